import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { deliver } from '../../scripts/deliveries/burst.mjs';
import { senders, slack, unsigned } from '../../scripts/deliveries/senders.mjs';
import { verdictOf } from '../../scripts/deliveries/verdicts.mjs';
import { fillTemplate, gateType, readTemplate } from '../../scripts/n8n/template.mjs';
import { freshPath, type Stage } from '../harness/stage';
import type { Workflow } from '../harness/workflows';
import { secretOf, type Provider } from './gates';

const folder = path.resolve(__dirname, '../../node-package/templates');
const shipped = readdirSync(folder).map((file) => path.basename(file, '.json'));

/** Every template that ships is imported as a user would, and used. */
export function templates(stage: () => Stage): void {
	describe('templates', () => {
		async function publish(name: string): Promise<{ url: string; provider: Provider | 'none' }> {
			const template = readTemplate(name) as Workflow;
			const provider = template.nodes.find(({ type }) => type === gateType)?.parameters['provider'] as Provider | 'none';
			const credentials = {
				postgres: stage().postgres,
				...(provider !== 'none' && { webhookSigningSecretApi: await secretOf(stage(), provider) }),
			};
			const { url } = await stage().publish(fillTemplate(template, credentials, freshPath(name)) as Workflow);
			return { url, provider };
		}

		it.each(shipped.filter((name) => name !== 'no-id-payload'))('%s: claimed, duplicate, rejected', async (name) => {
			const { url, provider } = await publish(name);
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
			const { url } = await publish('no-id-payload');
			const verdict = async (body: string) => verdictOf(await deliver(url, unsigned(body)));
			expect(await verdict('{"sensor":7,"value":1.5,"sent_at":"10:00","attempt":1}')).toBe('claimed');
			expect(await verdict('{"attempt":2,"sent_at":"10:05","value":1.5,"sensor":7}')).toBe('duplicate');
			expect(await verdict('{"sensor":8,"value":1.5,"sent_at":"10:00","attempt":1}')).toBe('claimed');
		});

		it('slack: answers the signed challenge, which is no event', async () => {
			const { url } = await publish('slack');
			const body = Buffer.from('{"type":"url_verification","challenge":"3eZbrw1aB","token":"unused"}');
			const answer = await deliver(url, slack.sign(body));
			expect(answer, answer.text).toMatchObject({ status: 200, json: { challenge: '3eZbrw1aB' } });
			const forged = await deliver(url, slack.sign(body, { secret: 'a secret of somebody else' }));
			expect(forged.status, forged.text).toBe(401);
		});
	});
}
