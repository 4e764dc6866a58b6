import type { INodeExecutionData } from 'n8n-workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeReceipt } from '../../node-package/src/receipt';
import { senders } from '../../scripts/deliveries/senders.mjs';
import { lossyProxy } from './lossy-proxy';
import { delivery, details, freshWorkflow, openStage, routes, runGate, type Stage, webhookItem } from './stage';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

describe('one delivery', () => {
	it('passes the input through and adds what is known of the claim', async () => {
		const item = delivery({ id: 'evt_shape', type: 'invoice.paid' });
		const finished = await runGate(stage, [item], { workflowId: 'WfShape', executionId: '77' });
		const [out] = finished.outputs('Gate')![0]!;
		const { claimed, idempotency, ...input } = out!.json;
		expect(input).toEqual(item.json);
		expect(claimed).toBe(true);
		expect(out!.pairedItem).toEqual({ item: 0 });
		expect(idempotency).toEqual({
			outcome: 'claimed',
			message: expect.any(String),
			provider: 'stripe',
			scope: 'workflow:WfShape',
			eventId: 'evt_shape',
			eventType: 'invoice.paid',
			idempotencyKey: expect.stringMatching(/^n8n-[0-9a-f]{40}$/),
			keySource: 'provider',
			idSigned: true,
			bodyHash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
			status: 'completed',
			attempt: 1,
			stage: null,
			firstSeenAt: expect.stringMatching(/^\d{4}-.*Z$/),
			leaseUntil: null,
			payloadSaved: false,
			claimToken: expect.any(String),
			fence: expect.stringMatching(/^\d+$/),
			needsAttention: false,
			signature: { verified: true, scheme: 'stripe-v1', secret: 'current', ageSeconds: expect.any(Number), weak: false },
			test: false,
		});
		const { claimToken, fence } = idempotency as { claimToken: string; fence: string };
		const key = { scope: 'workflow:WfShape', provider: 'stripe', eventId: 'evt_shape' };
		expect(decodeReceipt(claimToken)).toEqual({ key, owner: expect.stringMatching(/^[0-9a-f]{32}$/), fence });
	});

	it('tells a duplicate who claimed the event, and what to answer', async () => {
		const setup = { workflowId: freshWorkflow() };
		const item = delivery();
		await runGate(stage, [item], { ...setup, executionId: '501' });
		const finished = await runGate(stage, [item], { ...setup, executionId: '502' });
		expect(routes(finished)).toEqual([[], ['completed'], []]);
		const [out] = finished.outputs('Gate')![1]!;
		expect(out!.json).toMatchObject({ claimed: false, body: item.json['body'] });
		expect(details(out)).toMatchObject({
			outcome: 'completed',
			matchedOn: 'event_id',
			claimedBy: { executionId: '501' },
			payloadChanged: false,
			response: { statusCode: 200, body: { received: true, duplicate: true } },
		});
		expect(finished.received('Claimed')).toBe(0);
	});

	it('tells a rejected one why, and writes nothing', async () => {
		const workflowId = freshWorkflow();
		const finished = await runGate(stage, [delivery({ id: 'evt_forged' }, { secret: 'whsec_somebody_else' })], { workflowId });
		expect(routes(finished)).toEqual([[], [], ['rejected']]);
		const [out] = finished.outputs('Gate')![2]!;
		expect(out!.json['claimed']).toBe(false);
		expect(details(out)).toMatchObject({ reason: 'signature_mismatch', response: { statusCode: 401 } });
		expect(details(out)).not.toHaveProperty('eventId');
		expect(await rowsOf(workflowId)).toBe(0);
	});

	it('keeps binary data on Claimed only', async () => {
		const setup = { workflowId: freshWorkflow() };
		const item = delivery();
		const first = await runGate(stage, [item], setup);
		const second = await runGate(stage, [item], setup);
		expect(first.outputs('Gate')![0]![0]!.binary).toEqual(item.binary);
		expect(second.outputs('Gate')![1]![0]).not.toHaveProperty('binary');
	});

	it('reads the raw body from the JSON where the workflow keeps binary data there', async () => {
		const item = delivery();
		const combined: INodeExecutionData = { json: { ...item.json, _files: { data: item.binary!['data']! } as never } };
		const setup = { workflowId: freshWorkflow(), settings: { binaryMode: 'combined' as const } };
		expect(routes(await runGate(stage, [combined], setup))).toEqual([['claimed'], [], []]);
		const second = await runGate(stage, [combined], setup);
		expect(routes(second)).toEqual([[], ['completed'], []]);
		expect(second.outputs('Gate')![1]![0]!.json).not.toHaveProperty('_files');
	});

	it('does not believe a sender who writes such a field into the event', async () => {
		const item = delivery();
		const spoofed: INodeExecutionData = { json: { ...item.json, _files: { data: item.binary!['data']! } as never } };
		const finished = await runGate(stage, [spoofed]);
		expect(details(finished.outputs('Gate')![2]![0])).toMatchObject({ reason: 'raw_body_missing' });
	});

	it.each(['multipart/form-data; boundary=x', ' Multipart/Form-Data;boundary=x', 'multipart/mixed'])(
		'does not take a file of a form (%s) for the raw body, whoever signed it',
		async (type) => {
			const item = delivery();
			const headers = { ...(item.json['headers'] as object), 'content-type': type };
			const finished = await runGate(stage, [{ ...item, json: { ...item.json, headers, body: { paid: 'by nobody' } } }]);
			expect(routes(finished)).toEqual([[], [], ['rejected']]);
			expect(details(finished.outputs('Gate')![2]![0])).toMatchObject({ reason: 'raw_body_missing' });
		},
	);

	it('says what to turn on where Raw Body is off', async () => {
		const { json } = delivery();
		const finished = await runGate(stage, [{ json }]);
		expect(routes(finished)).toEqual([[], [], ['rejected']]);
		expect(details(finished.outputs('Gate')![2]![0])).toMatchObject({ reason: 'raw_body_missing', response: { statusCode: 400 } });
		expect(finished.hints.map(({ message }) => message).join()).toContain("add the option 'Raw Body'");
	});

	it('accepts the previous secret while the secret is rolled', async () => {
		const credentials = { Stripe: { signingSecret: 'whsec_the_new_one', previousSigningSecret: senders.stripe.secret } };
		const finished = await runGate(stage, [delivery()], { credentials });
		expect(details(finished.outputs('Gate')![0]![0])['signature']).toMatchObject({ verified: true, secret: 'previous' });
	});

	it('puts the details where the user wants them', async () => {
		const finished = await runGate(stage, [delivery()], { options: { resultField: 'gate' } });
		const [out] = finished.outputs('Gate')![0]!;
		expect(out!.json['claimed']).toBe(true);
		expect(details(out, 'gate')['outcome']).toBe('claimed');
		expect(out!.json).not.toHaveProperty('idempotency');
	});

	it('but not in place of the answer', async () => {
		const finished = await runGate(stage, [delivery()], { options: { resultField: 'claimed' } });
		expect(finished.error?.message).toBe("'Put Result in Field' cannot be 'claimed'");
		expect(finished.received('Claimed')).toBe(0);
	});

	it.each<[string, Record<string, unknown>, string]>([
		['names none', { eventType: '={{ $json.body.no_such_field }}' }, 'invoice.paid'],
		['is no text', { eventType: '={{ $json.body }}' }, 'invoice.paid'],
		['is one', { eventType: '=my {{ $json.body.type }}' }, 'my invoice.paid'],
	])('takes the type of the event from the provider unless the option is a text: it %s', async (_what, options, type) => {
		const finished = await runGate(stage, [delivery({ type: 'invoice.paid' })], { options });
		expect(details(finished.outputs('Gate')![0]![0])['eventType']).toBe(type);
	});

	it('takes fractions of a minute and of a second', async () => {
		const options = { leaseMinutes: 1.1234567, timestampTolerance: 299.12345, unfinishedEvents: 'takeOver' };
		expect(routes(await runGate(stage, [delivery()], { options }))).toEqual([['claimed'], [], []]);
	});
});

describe('several items', () => {
	it('are judged one by one, in one round trip, with order and pairing kept', async () => {
		const proxy = await lossyProxy(stage.postgres);
		const credentials = { Postgres: { ...stage.postgres, port: proxy.port } };
		const workflowId = freshWorkflow();
		await runGate(stage, [delivery({ id: 'evt_known' })], { workflowId, credentials });
		const before = proxy.seen(/INSERT INTO/i);

		const ids = Array.from({ length: 12 }, (_, at) => `evt_${at}`);
		const items = [
			...ids.slice(0, 5).map((id) => delivery({ id })),
			delivery({ id: 'evt_bad' }, { secret: 'whsec_wrong' }),
			...ids.slice(5).map((id) => delivery({ id })),
			delivery({ id: 'evt_3' }),
		];
		const finished = await runGate(stage, items, { workflowId, credentials });
		await proxy.close();

		const [claimed, duplicate, rejected] = finished.outputs('Gate')!;
		expect(claimed!.map((item) => details(item)['eventId'])).toEqual(ids);
		expect(claimed!.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12].map((item) => ({ item })),
		);
		expect(duplicate!.map((item) => [item.pairedItem, details(item)['outcome'], details(item)['matchedOn']])).toEqual([
			[{ item: 13 }, 'duplicate_in_batch', 'same_batch'],
		]);
		expect(rejected!.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 5 }]);
		expect(proxy.seen(/INSERT INTO/i) - before).toBe(1);
	});

	it('leave by one output where the user wants one, in their order', async () => {
		const items = [delivery({ id: 'evt_a' }), delivery({ id: 'evt_a' }), delivery({ id: 'evt_b' }, { secret: 'whsec_wrong' })];
		const finished = await runGate(stage, items, { options: { output: 'single' } });
		const outputs = finished.outputs('Gate')!;
		expect(outputs).toHaveLength(1);
		expect(outputs[0]!.map(({ json }) => json['claimed'])).toEqual([true, false, false]);
		expect(routes(finished)).toEqual([['claimed', 'duplicate_in_batch', 'rejected']]);
	});
});

describe('scopes', () => {
	it('one for each workflow, so that a copy of the workflow gets the event too', async () => {
		const item = delivery();
		for (const workflowId of [freshWorkflow(), freshWorkflow()]) {
			expect(routes(await runGate(stage, [item], { workflowId }))).toEqual([['claimed'], [], []]);
		}
	});

	it('one for each node, if asked for', async () => {
		const setup = { workflowId: freshWorkflow(), options: { scope: 'node' } };
		const item = delivery();
		const first = await runGate(stage, [item], { ...setup, node: { id: 'a' } });
		const second = await runGate(stage, [item], { ...setup, node: { id: 'b' } });
		expect(routes(first)[0]).toEqual(['claimed']);
		expect(routes(second)[0]).toEqual(['claimed']);
		expect(details(second.outputs('Gate')![0]![0])['scope']).toBe(`node:${setup.workflowId}:b`);
	});

	it('one for all who use the same name', async () => {
		const options = { scope: 'custom', scopeName: `billing ${freshWorkflow()}` };
		const item = delivery();
		const outcomes = [];
		for (const workflowId of [freshWorkflow(), freshWorkflow()]) {
			outcomes.push(routes(await runGate(stage, [item], { workflowId, options })));
		}
		expect(outcomes).toEqual([[['claimed'], [], []], [[], ['completed'], []]]);
	});

	it('a name that was forgotten stops the workflow', async () => {
		const finished = await runGate(stage, [delivery()], { options: { scope: 'custom' } });
		expect(finished.error).toBeDefined();
		expect(finished.received('Claimed')).toBe(0);
	});
});

describe('simultaneous executions', () => {
	it('let exactly one through', async () => {
		const setup = { workflowId: freshWorkflow() };
		const item = delivery();
		const finished = await Promise.all(Array.from({ length: 30 }, () => runGate(stage, [item], setup)));
		expect(finished.reduce((sum, one) => sum + one.received('Claimed'), 0)).toBe(1);
		expect(finished.reduce((sum, one) => sum + one.received('Duplicate'), 0)).toBe(29);
	});
});

describe('signed ids', () => {
	it('a captured body does not come back under another id where the id is not signed', async () => {
		const setup = { workflowId: freshWorkflow(), parameters: { provider: 'github' }, credentials: { Stripe: { signingSecret: senders.github.secret } } };
		const { headers, body } = senders.github.request({ id: 'first' });
		await runGate(stage, [webhookItem(headers, body)], setup);
		const replay = webhookItem({ ...headers, 'x-github-delivery': 'second' }, body);
		const finished = await runGate(stage, [replay], setup);
		expect(routes(finished)).toEqual([[], ['body_duplicate'], []]);
		expect(details(finished.outputs('Gate')![1]![0])['matchedOn']).toBe('body_digest');
		const allowed = await runGate(stage, [replay], { ...setup, options: { repeatedBodies: 'allow' } });
		expect(routes(allowed)).toEqual([['claimed'], [], []]);
	});

	it('a business key holds over several events', async () => {
		const options = { businessKey: '={{ $json.body.type }}:{{ $json.body.data.object.id }}' };
		const setup = { workflowId: freshWorkflow(), options };
		await runGate(stage, [delivery({ id: 'evt_1', object: 'pi_9' })], setup);
		const same = await runGate(stage, [delivery({ id: 'evt_2', object: 'pi_9' })], setup);
		const other = await runGate(stage, [delivery({ id: 'evt_3', object: 'pi_10' })], setup);
		expect(routes(same)).toEqual([[], ['business_duplicate'], []]);
		expect(routes(other)).toEqual([['claimed'], [], []]);
	});
});

async function rowsOf(workflowId: string): Promise<number> {
	const { rows } = await stage.database.query<{ n: number }>(
		`SELECT count(*)::int AS n FROM n8n_idempotency_claims WHERE scope LIKE '%' || $1 || '%'`,
		[workflowId],
	);
	return rows[0]!.n;
}
