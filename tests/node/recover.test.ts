/** Store > Recover Events: what nobody works on any more is handed out again, as it came in. */
import type { INodeExecutionData } from 'n8n-workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execute, GATE, type Finished, type Flow } from './engine';
import { delivery, details, freshWorkflow, gateNode, openStage, plain, webhookItem, type Stage } from './stage';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

/** Nodes of one workflow; each test has its own, and looks at no other. */
const workflows = () => freshWorkflow();

async function run(flow: Omit<Flow, 'credentials'>): Promise<Finished> {
	return await execute({ credentials: { Postgres: { ...stage.postgres }, Stripe: { signingSecret: 'whsec_3c4a9e5f0b7d4d1c9f2e8a6b5c7d9e1f' } }, ...flow });
}

/** Claims and goes no further. */
async function claim(workflowId: string, items: INodeExecutionData[], options: object = {}, more: Partial<Flow> = {}): Promise<Finished> {
	const node = gateNode({ options: { unfinishedEvents: 'takeOver', savePayload: 'untilCompleted', ...options } });
	return await run({ start: items, nodes: [node], wires: [['Start', 'Gate']], workflowId, ...more });
}

async function recover(workflowId: string, parameters: object = {}, options: object = {}, more: Partial<Flow> & { node?: object } = {}): Promise<Finished> {
	const { node, ...flow } = more;
	const scope = { scope: 'workflow', workflowId };
	return await run({
		start: [plain({})],
		nodes: [
			{
				...ours('Recover', { resource: 'store', operation: 'recover', ...parameters, options: { ...scope, ...options } }),
				...node,
			},
			{ name: 'Recovered' },
			{ name: 'Out' },
			ours('Complete', { resource: 'event', operation: 'complete' }),
		],
		wires: [['Start', 'Recover'], ['Recover', 'Recovered', 0], ['Recover', 'Out', 1], ['Recovered', 'Complete']],
		workflowId: 'Recovery',
		...flow,
	});
}

function ours(name: string, parameters: object): Flow['nodes'][number] {
	return { name, type: GATE, parameters: parameters as never, credentials: { postgres: { id: '1', name: 'Postgres' } } };
}

/** As if the lease had ended. */
async function passLease(workflowId: string): Promise<void> {
	await stage.database.query("UPDATE n8n_idempotency_claims SET lease_until = clock_timestamp() - interval '1 s' WHERE scope LIKE $1 AND state = 'p'", [`%${workflowId}`]);
}

const outputs = (finished: Finished) => (finished.outputs('Recover') ?? []).map((items) => items.map((item) => details(item)?.['outcome']));

describe('Recover Events', () => {
	it('hands a stale event out as the Webhook node gave it, and Complete behind it ends it', async () => {
		const workflowId = workflows();
		const original = delivery({ id: `evt_${workflowId}` });
		await claim(workflowId, [original], {}, { executionId: '4711' });
		expect(outputs(await recover(workflowId))).toEqual([[], []]);
		await passLease(workflowId);

		const finished = await recover(workflowId);
		expect(finished.error).toBeUndefined();
		expect(outputs(finished)).toEqual([['taken_over'], []]);
		const item = finished.outputs('Recover')![0]![0]!;
		const { 'stripe-signature': _, ...headers } = original.json['headers'] as Record<string, string>;
		expect(item.json).toMatchObject({ headers, body: original.json['body'], claimed: true });
		expect(item.json['headers']).not.toHaveProperty('stripe-signature');
		expect(item.binary!['data']).toMatchObject({ data: original.binary!['data']!.data, mimeType: 'application/json' });
		expect(details(item)).toMatchObject({
			...{ outcome: 'taken_over', provider: 'stripe', eventId: `evt_${workflowId}`, eventType: 'payment_intent.succeeded' },
			...{ scope: `workflow:${workflowId}`, attempt: 2, stage: null, executionIdBefore: '4711', lastError: null },
			...{ payloadSaved: true, claimToken: expect.any(String), idempotencyKey: expect.stringMatching(/^n8n-[0-9a-f]{40}$/) },
		});
		expect(details(finished.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'completed', status: 'completed' });
		await passLease(workflowId);
		expect(outputs(await recover(workflowId))).toEqual([[], []]);
	});

	it('leaves a live claim, a completed one and other workflows alone', async () => {
		const [mine, other] = [workflows(), workflows()];
		await claim(mine, [delivery()]);
		await claim(mine, [delivery()], { unfinishedEvents: 'alwaysDuplicate' });
		await claim(other, [delivery()]);
		await passLease(other);
		expect(outputs(await recover(mine))).toEqual([[], []]);
		expect(outputs(await recover(other))).toEqual([['taken_over'], []]);
	});

	it('without a saved delivery there is the claim alone', async () => {
		const workflowId = workflows();
		await claim(workflowId, [delivery()], { savePayload: 'never' });
		await passLease(workflowId);
		const [item] = (await recover(workflowId)).outputs('Recover')![0]!;
		expect(Object.keys(item!.json)).toEqual(['claimed', 'idempotency']);
		expect(item!.binary).toBeUndefined();
		expect(details(item)).toMatchObject({ payloadSaved: false });
	});

	it('a form and a text are handed out as such', async () => {
		const workflowId = workflows();
		const parameters = { provider: 'none', eventIdFrom: 'bodyHash' };
		const node = gateNode({ parameters: { ...parameters, eventIdFrom: 'expression', eventId: '={{ $json.headers.id }}' }, options: { unfinishedEvents: 'takeOver', savePayload: 'always' } });
		const form = { ...webhookItem({ id: 'form', 'content-type': 'application/x-www-form-urlencoded' }, Buffer.from('"x"')) };
		form.binary!['data']!.data = Buffer.from('a=1&b=x+y&a=2').toString('base64');
		const text = webhookItem({ id: 'text', 'content-type': 'text/plain; charset=utf-8' }, Buffer.from('"x"'));
		text.binary!['data']!.data = Buffer.from('{not json').toString('base64');
		await run({ start: [form, text], nodes: [node], wires: [['Start', 'Gate']], workflowId });
		await passLease(workflowId);
		const items = (await recover(workflowId)).outputs('Recover')![0]!;
		const bodies = Object.fromEntries(items.map((item) => [details(item)['eventId'], item.json['body']]));
		expect(bodies).toEqual({ form: { a: ['1', '2'], b: 'x y' }, text: '{not json' });
		expect(items.map(({ binary }) => binary!['data']!.mimeType).sort()).toEqual(['application/x-www-form-urlencoded', 'text/plain']);
	});

	it('ends what has used up its attempts and what is to be held, and says so', async () => {
		const workflowId = workflows();
		await claim(workflowId, [delivery({ id: 'evt_used_up' })], { maxAttempts: 1 });
		await claim(workflowId, [delivery({ id: 'evt_held' })], { unfinishedEvents: 'hold' });
		await passLease(workflowId);
		const finished = await recover(workflowId);
		expect(finished.outputs('Recover')![0]).toEqual([]);
		const out = finished.outputs('Recover')![1]!;
		const byEvent = Object.fromEntries(out.map((item) => [details(item)['eventId'], item]));
		expect(details(byEvent['evt_used_up'])).toMatchObject({ outcome: 'exhausted', status: 'dead', needsAttention: true, attempt: 1 });
		expect(details(byEvent['evt_held'])).toMatchObject({ outcome: 'held', status: 'uncertain', needsAttention: true });
		for (const item of out) {
			expect(item.json).toMatchObject({ claimed: false, body: { object: 'event' } });
			expect(item.binary).toBeUndefined();
			expect(details(item)).not.toHaveProperty('claimToken');
		}
	});

	it('holds stale events where the user wants it, and takes as many as asked', async () => {
		const workflowId = workflows();
		for (let n = 0; n < 3; n++) await claim(workflowId, [delivery()]);
		await passLease(workflowId);
		expect(outputs(await recover(workflowId, { limit: 1 }))).toEqual([['taken_over'], []]);
		expect(outputs(await recover(workflowId, { which: 'failed' }))).toEqual([[], []]);
		expect(outputs(await recover(workflowId, { which: 'stale' }, { unfinishedEvents: 'hold' }))).toEqual([[], ['held', 'held']]);
	});

	it('a test recovers what tests have left behind, and nothing else', async () => {
		const workflowId = workflows();
		await claim(workflowId, [delivery()]);
		await claim(workflowId, [delivery()], {}, { mode: 'manual' });
		await passLease(workflowId);
		const test = await recover(workflowId, {}, {}, { mode: 'manual' });
		expect(outputs(test)).toEqual([['taken_over'], []]);
		expect(details(test.outputs('Recover')![0]![0])).toMatchObject({ test: true, scope: `test:workflow:${workflowId}` });
		const nothing = await recover(workflowId, {}, { scope: 'all' }, { mode: 'manual' });
		expect(outputs(nothing)).toEqual([[], []]);
		expect(nothing.hints.map(({ message }) => message).join()).toContain("'Same as Production'");
		expect(outputs(await recover(workflowId, {}, { testExecutions: 'production' }, { mode: 'manual' }))).toEqual([['taken_over'], []]);
	});
});

describe('what could go wrong', () => {
	it('Always Output Data would let an empty item out as recovered', async () => {
		const finished = await recover(workflows(), {}, {}, { node: { alwaysOutputData: true } });
		expect(finished.error?.message).toContain("'Always Output Data'");
		const going = await recover(workflows(), {}, {}, { node: { alwaysOutputData: true, onError: 'continueRegularOutput' } });
		expect(going.received('Recovered')).toBe(0);
	});

	it.each([undefined, 'continueRegularOutput', 'continueErrorOutput'] as const)('a store that cannot be reached recovers nothing (On Error: %s)', async (onError) => {
		const credentials = { Postgres: { ...stage.postgres, port: 1 } };
		const finished = await recover(workflows(), {}, {}, { credentials, node: { onError } } as never);
		expect(finished.received('Recovered')).toBe(0);
		if (onError === undefined) expect(finished.error?.message).toContain('Could not reach the Postgres store');
		if (onError === 'continueRegularOutput') expect(details(finished.outputs('Recover')![1]![0])).toMatchObject({ outcome: 'unavailable', reason: 'store_unavailable' });
	});

	it.each([
		[{ limit: 0 }, {}, "'Limit' must be"],
		[{}, { leaseMinutes: 0 }, "'Lease (Minutes)' must be"],
		[{}, { maxAttempts: 0 }, "'Maximum Attempts' must be"],
		[{}, { scope: 'custom', scopeName: '' }, "'Scope Name' is empty"],
	])('%o %o is refused', async (parameters, options, message) => {
		const finished = await recover(workflows(), parameters, options);
		expect(finished.error?.message).toContain(message);
	});
});
