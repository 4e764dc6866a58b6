import { describe, expect, it } from 'vitest';
import { deliver } from '../../scripts/deliveries/burst.mjs';
import { github, paddle, signStripe, stripe, unsigned } from '../../scripts/deliveries/senders.mjs';
import type { Stage } from '../harness/stage';
import { claimsOf } from '../harness/tables';
import { expectClaimed, expectDuplicate, expectRejected } from './answers';
import { publishGate } from './gates';

/** What is one event, and what is two. */
export function identity(stage: () => Stage): void {
	describe('which deliveries are the same event', () => {
		it('two event types about one object are two events', async () => {
			const { url } = await publishGate(stage(), { provider: 'stripe' });
			const object = 'pi_one_object';
			expectClaimed(await deliver(url, stripe.request({ type: 'payment_intent.created', object })));
			expectClaimed(await deliver(url, stripe.request({ type: 'payment_intent.succeeded', object })));
		});

		it('one id from two providers is two events, even in one scope', async () => {
			const options = { scope: 'custom', scopeName: 'shared by two providers' };
			const [first, second] = [
				await publishGate(stage(), { provider: 'stripe', options }),
				await publishGate(stage(), { provider: 'paddle', options }),
			];
			const id = 'evt_of_two_providers';
			expectClaimed(await deliver(first.url, stripe.request({ id })));
			expectClaimed(await deliver(second.url, paddle.request({ id })));
			expectDuplicate(await deliver(second.url, paddle.request({ id })));
			expect(await claimsOf(stage().database, id)).toBe(2);
		});

		it('one event in two workflows is claimed once by each', async () => {
			const [first, second] = [await publishGate(stage(), { provider: 'stripe' }), await publishGate(stage(), { provider: 'stripe' })];
			const request = stripe.request({ id: 'evt_of_two_workflows' });
			expectClaimed(await deliver(first.url, request));
			expectClaimed(await deliver(second.url, request));
			expectDuplicate(await deliver(first.url, request));
			expect(await claimsOf(stage().database, 'evt_of_two_workflows')).toBe(2);
		});

		it('a captured request under another id is a duplicate where the provider does not sign the id', async () => {
			const { url } = await publishGate(stage(), { provider: 'github' });
			const captured = github.request();
			expectClaimed(await deliver(url, captured));
			const replayed = await deliver(url, { ...captured, headers: { ...captured.headers, 'x-github-delivery': 'another-id' } });
			expectDuplicate(replayed);
			expect(replayed.json.idempotency).toMatchObject({ outcome: 'body_duplicate', matchedOn: 'body_digest' });
		});

		it('a payload without an id is the same event whatever the order of its members', async () => {
			const { url } = await publishGate(stage(), { provider: 'none', parameters: { eventIdFrom: 'bodyHash' } });
			expectClaimed(await deliver(url, unsigned('{"sensor":"a1","value":21.5,"at":{"day":1,"hour":2}}')));
			expectDuplicate(await deliver(url, unsigned('{ "value": 21.50, "at": {"hour":2, "day":1}, "sensor": "a1" }')));
			expectClaimed(await deliver(url, unsigned('{"sensor":"a1","value":21.6,"at":{"day":1,"hour":2}}')));
		});

		it('two ids of 19 digits, one apart, are two events', async () => {
			const { url } = await publishGate(stage(), { provider: 'stripe' });
			for (const id of ['9196877626998784001', '9196877626998784002']) {
				const body = Buffer.from(`{"id":${id},"object":"event","type":"invoice.paid"}`);
				const request = { headers: { 'content-type': 'application/json', ...signStripe(body) }, body };
				expectClaimed(await deliver(url, request));
				expectDuplicate(await deliver(url, request));
				expect(await claimsOf(stage().database, id)).toBe(1);
			}
		});

		it('an id of 19 digits that n8n has rounded already is refused, not mistaken for its neighbour', async () => {
			const parameters = { eventIdFrom: 'expression', eventId: '={{ $json.body.id }}' };
			const { url } = await publishGate(stage(), { provider: 'none', parameters });
			expectRejected(await deliver(url, unsigned('{"id":9196877626998784001}')), 'event_id_invalid');
			expectClaimed(await deliver(url, unsigned('{"id":"9196877626998784001"}')));
			expectClaimed(await deliver(url, unsigned('{"id":"9196877626998784002"}')));
		});

		it('two payloads without an id that differ in the 19th digit of a number are two events', async () => {
			const { url } = await publishGate(stage(), { provider: 'none', parameters: { eventIdFrom: 'bodyHash' } });
			expectClaimed(await deliver(url, unsigned('{"order":9196877626998784001}')));
			expectClaimed(await deliver(url, unsigned('{"order":9196877626998784002}')));
		});
	});
}
