import { beforeAll, describe, expect, it } from 'vitest';
import { deliver } from '../../scripts/deliveries/burst.mjs';
import { senders, stripe, unsigned } from '../../scripts/deliveries/senders.mjs';
import type { Published, Stage } from '../harness/stage';
import { rowCounts } from '../harness/tables';
import { expectClaimed, expectRejected } from './answers';
import { publishGate, signedProviders } from './gates';

const TEN_MINUTES = 600_000;
const timestamped = ['stripe', 'paddle', 'standard_webhooks'] as const;

/** Every refusal ends at Rejected, and no table of the database has one row more than before. */
export function refusals(stage: () => Stage): void {
	describe('refused deliveries leave no trace', () => {
		const gates = new Map<string, Published>();
		const url = (provider: string): string => gates.get(provider)?.url ?? '';

		beforeAll(async () => {
			for (const provider of signedProviders) gates.set(provider, await publishGate(stage(), { provider }));
			// The tables exist from here on, and a good request is shown to pass.
			expectClaimed(await deliver(url('stripe'), stripe.request()));
		});

		async function leavingNoTrace(work: () => Promise<void>): Promise<void> {
			const before = await rowCounts(stage().database);
			await work();
			expect(await rowCounts(stage().database)).toEqual(before);
		}

		it.each(signedProviders)('%s: signed with another secret', async (provider) => {
			const secret = provider === 'standard_webhooks' ? 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX' : 'a secret of somebody else';
			await leavingNoTrace(async () => {
				expectRejected(await deliver(url(provider), senders[provider].request({}, { secret })), 'signature_mismatch');
			});
		});

		it.each(signedProviders)('%s: not signed', async (provider) => {
			const { body } = senders[provider].request();
			await leavingNoTrace(async () => {
				const answer = await deliver(url(provider), unsigned(body));
				expect(answer.json?.idempotency?.response?.statusCode, answer.text).toBe(401);
				expectRejected(answer, answer.json.idempotency.reason);
			});
		});

		it.each(signedProviders)('%s: the body parsed and written again on the way', async (provider) => {
			const { headers, body } = senders[provider].request();
			const rewritten = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1));
			await leavingNoTrace(async () => {
				expectRejected(await deliver(url(provider), { headers, body: rewritten }), 'signature_mismatch');
			});
		});

		it.each(timestamped)('%s: a signature of ten minutes ago, or of the future', async (provider) => {
			await leavingNoTrace(async () => {
				for (const at of [Date.now() - TEN_MINUTES, Date.now() + TEN_MINUTES]) {
					expectRejected(await deliver(url(provider), senders[provider].request({}, { at })), 'timestamp_outside_tolerance');
				}
			});
		});

		it.each([undefined, 'continueRegularOutput'])('Raw Body off (On Error: %s): Rejected, and the execution says what to turn on', async (onError) => {
			const gate = await publishGate(stage(), { provider: 'stripe', rawBody: false, ...(onError !== undefined && { onError }) });
			await leavingNoTrace(async () => {
				expectRejected(await deliver(gate.url, stripe.request()), 'raw_body_missing');
			});
			expect(await hintsOf(stage(), gate.id)).toMatch(/Raw Body/);
		});
	});
}

/** What the gate tells the user in the editor about the workflow's only execution. n8n stores it after the answer. */
async function hintsOf({ n8n }: Stage, workflowId: string): Promise<string> {
	await expect.poll(async () => (await n8n.api.executions(workflowId))[0]?.status, { timeout: 10_000 }).toBe('success');
	const [only] = await n8n.api.executions(workflowId);
	const { data } = await n8n.api.execution(only.id);
	const [run] = data.resultData.runData.Gate as Array<{ hints: Array<{ message: string }> }>;
	return run?.hints.map(({ message }) => message).join('\n') ?? '';
}
