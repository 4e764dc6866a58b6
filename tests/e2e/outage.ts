import { afterEach, describe, expect, it } from 'vitest';
import { deliver } from '../../scripts/deliveries/burst.mjs';
import { stripe } from '../../scripts/deliveries/senders.mjs';
import type { Stage } from '../harness/stage';
import { claimsOf } from '../harness/tables';
import { branches, expectClaimed, expectDuplicate } from './answers';
import { publishGate } from './gates';

export function outage(stage: () => Stage): void {
	describe('PostgreSQL is down', () => {
		afterEach(() => stage().server.resume());

		it('the webhook answers an error and nothing is claimed; when it is back, the same event is claimed', async () => {
			const { url } = await publishGate(stage(), { provider: 'stripe' });
			// The gate has worked before, so its connections are open when the server goes.
			expectClaimed(await deliver(url, stripe.request()));
			const request = stripe.request({ id: 'evt_during_the_outage' });

			await stage().server.halt();
			const during = await deliver(url, request);
			expect(during.status, during.text).toBe(500);
			expect(branches([during])).toEqual({ none: 1 });

			await stage().server.resume();
			expect(await claimsOf(stage().database, 'evt_during_the_outage')).toBe(0);
			expectClaimed(await deliver(url, request));
			expectDuplicate(await deliver(url, request));
		});

		it('On Error: Continue sends the delivery to Rejected with a 503, never to Claimed', async () => {
			const { url } = await publishGate(stage(), { provider: 'stripe', onError: 'continueRegularOutput' });
			const request = stripe.request({ id: 'evt_during_another_outage' });

			await stage().server.halt();
			const during = await deliver(url, request);
			expect(branches([during]), during.text).toEqual({ rejected: 1 });
			expect(during.json).toMatchObject({ claimed: false, idempotency: { outcome: 'unavailable', response: { statusCode: 503 } } });

			await stage().server.resume();
			expectClaimed(await deliver(url, request));
		});
	});
}
