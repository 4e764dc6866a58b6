import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { deliver } from '../../scripts/deliveries/burst.mjs';
import { senders, slack, unsigned } from '../../scripts/deliveries/senders.mjs';
import { verdictOf } from '../../scripts/deliveries/verdicts.mjs';
import type { Stage } from '../harness/stage';
import type { Provider } from './gates';
import { publishTemplate } from './published-templates';

const folder = path.resolve(__dirname, '../../node-package/templates');
const shipped = readdirSync(folder).map((file) => path.basename(file, '.json'));

/** Those of `lifecycle-templates.ts`, `retried-executions.ts`, and the one below that has no signature. */
const elsewhere = ['dead-letters', 'error-workflow', 'no-id-payload', 'outbox', 'recovery', 'recovery-schedule', 'retry-safe-charge', 'stripe-respond'];

/** Every template that ships is imported as a user would, and used. */
export function templates(stage: () => Stage): void {
	describe('templates', () => {
		it.each(shipped.filter((name) => !elsewhere.includes(name)))('%s: claimed, duplicate, rejected', async (name) => {
			const { url, provider } = await publishTemplate(stage(), name);
			const sender = senders[provider as Provider];
			const request = sender.request();
			const done = await deliver(url, request);
			expect(done, done.text).toMatchObject({ status: 200, json: { received: true, duplicate: false } });
			const again = await deliver(url, request);
			expect(again, again.text).toMatchObject({ status: 200, json: { received: true, duplicate: true } });
			const forged = await deliver(url, { headers: request.headers, body: Buffer.from('{"id":"evt_forged"}') });
			expect(forged.status, forged.text).toBe(401);
		});

		it('no-id-payload: members in another order and the ignored ones changed are the same event', async () => {
			const { url } = await publishTemplate(stage(), 'no-id-payload');
			const verdict = async (body: string) => verdictOf(await deliver(url, unsigned(body)));
			expect(await verdict('{"sensor":7,"value":1.5,"sent_at":"10:00","attempt":1}')).toBe('claimed');
			expect(await verdict('{"attempt":2,"sent_at":"10:05","value":1.5,"sensor":7}')).toBe('duplicate');
			expect(await verdict('{"sensor":8,"value":1.5,"sent_at":"10:00","attempt":1}')).toBe('claimed');
		});

		it('slack: answers the signed challenge, which is no event', async () => {
			const { url } = await publishTemplate(stage(), 'slack');
			const body = Buffer.from('{"type":"url_verification","challenge":"3eZbrw1aB","token":"unused"}');
			const answer = await deliver(url, slack.sign(body));
			expect(answer, answer.text).toMatchObject({ status: 200, json: { challenge: '3eZbrw1aB' } });
			const forged = await deliver(url, slack.sign(body, { secret: 'a secret of somebody else' }));
			expect(forged.status, forged.text).toBe(401);
		});
	});
}
