/** The outbox's operations: a message is stored once, handed out until it is sent, and ended by who has it. */
import type { INodeExecutionData } from 'n8n-workflow';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Flow } from './engine';
import { eventNode, handle, linked, runLife } from './life';
import { lossyProxy, type LossyProxy } from './lossy-proxy';
import { delivery, details, freshWorkflow, openStage, plain, runGate, type Setup, type Stage } from './stage';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
	await runGate(stage, [delivery()]);
});
afterAll(() => stage?.close());

let workflowId: string;
beforeEach(() => {
	workflowId = freshWorkflow();
});

interface Settings {
	readonly name?: string;
	readonly parameters?: object;
	readonly options?: object;
	readonly node?: object;
}

function outboxNode(operation: string, { name = operation, parameters, options, node }: Settings = {}): Flow['nodes'][number] {
	return eventNode(operation, { name, parameters: { resource: 'outbox', ...parameters }, options: { ...options }, node: { ...node } });
}

const add = (settings: Settings = {}) => outboxNode('addMessage', { name: 'Add', ...settings, parameters: { topic: 'receipt', body: '{}', ...settings.parameters } });

/** Adds messages with these keys, which are not about events. */
async function added(...keys: string[]): Promise<void> {
	const node = add({ parameters: { body: '={{ $json }}' }, options: { messageKey: '={{ $json.key }}' } });
	const finished = await runGate(stage, keys.map((key) => plain({ key })), { workflowId, nodes: [node], wires: [['Start', 'Add']] });
	expect(finished.error).toBeUndefined();
}

/** Next, and whatever the test does with the messages. */
async function next(chain: Parameters<typeof linked>[0] = [], { parameters, options, node, ...setup }: Settings & Setup = {}) {
	const { nodes, types } = linked(chain);
	const names = ['Next', ...chain.map(({ name }) => name), 'End'];
	return await runGate(stage, [plain({ tick: 1 })], {
		...setup,
		nodes: [outboxNode('getNextMessages', { name: 'Next', parameters: parameters!, options: { scope: 'workflow', workflowId, ...options }, node: node! }), ...nodes, { name: 'End' }, { name: 'None' }],
		wires: [['Start', 'Next'], ...names.slice(1).map((name, at) => [names[at]!, name] as const), ['Next', 'None', 1]],
		types,
	});
}

const keysOf = (items: INodeExecutionData[] | undefined) => (items ?? []).map(({ json }) => json['messageKey']);
const rowOf = async (key: string) => {
	const { rows } = await stage.database.query('SELECT state, attempt, error, extract(epoch FROM available_at - clock_timestamp())::float8 AS waits FROM n8n_idempotency_outbox WHERE message_key = $1 AND scope = $2', [key, `workflow:${workflowId}`]);
	return rows[0] as { state: string; attempt: number; error: string | null; waits: number };
};
const passTime = async (key: string) => {
	await stage.database.query("UPDATE n8n_idempotency_outbox SET available_at = clock_timestamp() - interval '1 s', lease_until = CASE WHEN state = 'l' THEN clock_timestamp() - interval '1 s' END WHERE message_key = $1 AND scope = $2", [key, `workflow:${workflowId}`]);
};

describe('Add Message', () => {
	it('behind a gate: the key is made of the event and the topic, and a second attempt adds nothing', async () => {
		const item = delivery();
		const setup = { workflowId, options: { lease: 1 } };
		const first = await runLife(stage, [item], [handle, add({ parameters: { body: '={{ { paid: $json.charged } }}' } })], setup);
		const [one] = first.outputs('Add')![0]!;
		const { idempotencyKey, scope } = details(first.outputs('Gate')![0]![0]);
		expect(details(one, 'outbox')).toMatchObject({ outcome: 'added', topic: 'receipt', messageKey: `${String(idempotencyKey)}-receipt`, scope });
		expect(one!.json['charged'], 'the item goes on').toBe(true);

		await stage.database.query("UPDATE n8n_idempotency_claims SET lease_until = clock_timestamp() - interval '1 s' WHERE scope = $1", [scope]);
		const again = await runLife(stage, [item], [handle, add()], setup);
		expect(again.outputs('Add')!.map((items) => items.map((one) => details(one, 'outbox')['outcome']))).toEqual([[], ['already_added']]);
		expect(keysOf((await next()).outputs('Next')![0])).toEqual([`${String(idempotencyKey)}-receipt`]);
	});

	it('in the workflow that recovers the event, the message is the same one', async () => {
		await runLife(stage, [delivery()], [handle, add()], { workflowId });
		await stage.database.query("UPDATE n8n_idempotency_claims SET lease_until = clock_timestamp() - interval '1 s' WHERE scope = $1", [`workflow:${workflowId}`]);
		const recover = eventNode('recover', { name: 'Recover', parameters: { resource: 'store' }, options: { scope: 'workflow', workflowId } });
		const { nodes, types } = linked([handle]);
		const wires = [['Start', 'Recover'], ['Recover', 'Handle'], ['Handle', 'Add']] as const;
		const finished = await runGate(stage, [plain({})], { nodes: [recover, ...nodes, add()], wires, types, workflowId: 'Recovery' });
		expect(finished.outputs('Add')!.map(({ length }) => length)).toEqual([0, 1]);
	});

	it('several messages of one event about one topic are several', async () => {
		const split = { name: 'Split', act: async (items: INodeExecutionData[]) => items.flatMap((_, item) => ['a', 'b'].map((line) => ({ json: { line }, pairedItem: { item } }))) };
		const chain = [split, add({ parameters: { body: '={{ $json.line }}' } })];
		const finished = await runLife(stage, [delivery()], chain, { workflowId });
		expect(finished.error?.message).toContain("'Body' is not JSON");
		const quoted = await runLife(stage, [delivery()], [split, add({ parameters: { body: '={{ JSON.stringify($json.line) }}' } })], { workflowId });
		const keys = quoted.outputs('Add')![0]!.map((item) => String(details(item, 'outbox')['messageKey']));
		expect(keys[1]).toBe(keys[0]!.replace('-receipt', '#2-receipt'));
		expect((await next()).outputs('Next')![0]!.map(({ json }) => json['body'])).toEqual(['a', 'b']);
	});

	describe('in a loop', () => {
		/** Gate, then one round for each line of each event. */
		const loop = async (items: INodeExecutionData[], setup: Setup = {}, node: object = {}) => {
			const split = { name: 'Split', act: async (given: INodeExecutionData[]) => given.flatMap((_, item) => ['a', 'b', 'c'].map((line) => ({ json: { line }, pairedItem: { item } }))) };
			const { nodes, types } = linked([split]);
			const rounds = { name: 'Loop', type: 'n8n-nodes-base.splitInBatches', typeVersion: 3, parameters: { batchSize: 1, options: {} } };
			return await runGate(stage, items, {
				...{ workflowId, types, options: { unfinishedEvents: 'takeOver' }, nodes: [...nodes, rounds, add({ parameters: { body: '={{ JSON.stringify($json.line) }}' }, node }), { name: 'End' }] },
				wires: [['Start', 'Gate'], ['Gate', 'Split'], ['Split', 'Loop'], ['Loop', 'End', 0], ['Loop', 'Add', 1], ['Add', 'Loop', 0], ['Add', 'Loop', 1]],
				...setup,
			});
		};
		const stored = async () => {
			const { rows } = await stage.database.query<{ key: string; body: string }>('SELECT message_key AS key, body FROM n8n_idempotency_outbox WHERE scope = $1 ORDER BY id', [`workflow:${workflowId}`]);
			return rows.map(({ key, body }) => [key, body]);
		};
		const keysFor = (gate: INodeExecutionData | undefined) => ['-receipt', '#2-receipt', '#3-receipt'].map((end, at) => [String(details(gate)['idempotencyKey']) + end, JSON.stringify('abc'[at])]);

		it('each round\'s message is another one, of several events too', async () => {
			const finished = await loop([delivery(), delivery()]);
			expect(finished.error).toBeUndefined();
			const [one, two] = finished.outputs('Gate')![0]!;
			expect(await stored()).toEqual([...keysFor(one), ...keysFor(two)]);
		});

		it('and the same one when the event is handled again, though alone', async () => {
			const [first, second] = [delivery(), delivery()];
			await loop([first, second]);
			const before = await stored();
			await stage.database.query("UPDATE n8n_idempotency_claims SET lease_until = clock_timestamp() - interval '1 s' WHERE scope = $1", [`workflow:${workflowId}`]);
			const again = await loop([second]);
			expect(again.run.data.resultData.runData['Add']!.map(({ data }) => data!['main']!.map((items) => items?.length))).toEqual([[0, 1], [0, 1], [0, 1]]);
			expect(await stored()).toEqual(before);
		});

		it('and the same one when the answer of a try was lost', async () => {
			const proxy = await lossyProxy(stage.postgres);
			let tries = 0;
			const finished = await loop([delivery()], {
				credentials: { Postgres: { ...stage.postgres, port: proxy.port } },
				onTry: (_, node) => {
					if (node !== 'Add') return;
					tries++;
					// The second round's first try, and the one after it.
					if (tries === 2) proxy.lose(/INSERT INTO/);
					if (tries === 3) proxy.heal();
				},
			}, { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 });
			await proxy.close();
			expect([finished.error, tries, proxy.lost > 0]).toEqual([undefined, 4, true]);
			expect(await stored()).toEqual(keysFor(finished.outputs('Gate')![0]![0]));
		});
	});

	it('a key of one\'s own, an order and a delay', async () => {
		const node = add({ parameters: { body: '{ "n": 1 }' }, options: { messageKey: `${workflowId}-x`, orderingKey: 'customer', delayMinutes: 5 } });
		await runGate(stage, [plain({})], { workflowId, nodes: [node], wires: [['Start', 'Add']] });
		expect((await next()).outputs('Next')!.map(({ length }) => length)).toEqual([0, 1]);
		await passTime(`${workflowId}-x`);
		expect((await next()).outputs('Next')![0]![0]!.json).toMatchObject({ body: { n: 1 }, outbox: { orderingKey: 'customer' } });
	});

	it.each([
		[{}, {}, 'The message has no key'],
		[{ topic: "={{ '' }}" }, { messageKey: 'x' }, "'Topic' is empty"],
		[{ body: '{' }, { messageKey: 'x' }, "'Body' is not JSON"],
		[{}, { messageKey: 'x', delayMinutes: -1 }, "'Delay (Minutes)' must be"],
		[{}, { messageKey: 'x'.repeat(600) }, 'message key'],
	])('%o %o is refused, and nothing is stored', async (parameters, options, message) => {
		const run = async (node: object) => await runGate(stage, [plain({})], { workflowId, nodes: [add({ parameters, options, node })], wires: [['Start', 'Add']] });
		const stopped = await run({});
		expect(stopped.error?.message).toContain(message);
		const going = await run({ onError: 'continueRegularOutput' });
		expect(going.error).toBeUndefined();
		expect(going.outputs('Add')!.map((items) => items.map((item) => details(item, 'outbox')['outcome']))).toEqual([[], [expect.stringMatching(/rejected|unavailable/)]]);
		expect((await next()).outputs('Next')![0]).toEqual([]);
	});
});

describe('Get Next Messages', () => {
	it('gives what is due, oldest first, and one item where there is nothing', async () => {
		await added('a', 'b', 'c');
		const first = await next([], { parameters: { limit: 2 } });
		expect(first.outputs('Next')!.map(({ length }) => length)).toEqual([2, 0]);
		expect(first.outputs('Next')![0]![0]!.json).toMatchObject({ topic: 'receipt', messageKey: 'a', body: { key: 'a' }, outbox: { attempt: 1, lastError: null } });
		expect(keysOf((await next()).outputs('Next')![0])).toEqual(['c']);
		const nothing = await next();
		expect(nothing.outputs('Next')!.map((items) => items.map(({ json }) => json))).toEqual([[], [{ messages: 0 }]]);
		expect(nothing.received('None')).toBe(1);
	});

	it('of one topic only', async () => {
		await added('a');
		expect(keysOf((await next([], { parameters: { topic: 'other' } })).outputs('Next')![0])).toEqual([]);
		expect(keysOf((await next([], { parameters: { topic: 'receipt' } })).outputs('Next')![0])).toEqual(['a']);
	});

	it('a test gets what tests have added', async () => {
		await added('production');
		const node = add({ options: { messageKey: 'test' } });
		await runGate(stage, [plain({})], { workflowId, nodes: [node], wires: [['Start', 'Add']], mode: 'manual' });
		expect(keysOf((await next([], { mode: 'manual' })).outputs('Next')![0])).toEqual(['test']);
		expect(keysOf((await next()).outputs('Next')![0])).toEqual(['production']);
	});

	it('Always Output Data would send an empty message', async () => {
		const stopped = await next([], { node: { alwaysOutputData: true } });
		expect(stopped.error?.message).toContain("'Always Output Data'");
	});
});

describe('Mark Sent and Mark Failed', () => {
	/** What an HTTP Request node leaves of the message: its answer, under the same pairing. */
	const send = { name: 'Send', act: async (items: INodeExecutionData[]) => items.map((_, item) => ({ json: { statusCode: 200 }, pairedItem: { item } })) };
	const fails = { name: 'Send', act: async (items: INodeExecutionData[]) => items.map((_, item) => ({ json: { error: { message: 'the receiver says no' } } as never, pairedItem: { item } })) };

	it('Mark Sent finds the message before it and ends it', async () => {
		await added('a', 'b');
		const finished = await next([send, outboxNode('markSent')]);
		expect(finished.error).toBeUndefined();
		expect(finished.outputs('markSent')![0]!.map((item) => details(item, 'outbox')['outcome'])).toEqual(['sent', 'sent']);
		await passTime('a');
		expect((await next()).outputs('Next')![0]).toEqual([]);
	});

	it('Mark Failed has it handed out again after a wait, and gives up after so many attempts', async () => {
		await added('a');
		const failing = [fails, outboxNode('markFailed', { options: { maxAttempts: 2 } })];
		const once = await next(failing);
		expect(details(once.outputs('markFailed')![0]![0], 'outbox')).toMatchObject({ outcome: 'failed', nextAttemptAt: expect.any(String), lastError: 'the receiver says no' });
		const { state, error, waits } = await rowOf('a');
		expect({ state, error }).toEqual({ state: 'p', error: 'the receiver says no' });
		expect(waits).toBeLessThanOrEqual(30);
		await passTime('a');
		const twice = await next(failing);
		expect(twice.outputs('Next')![0]![0]!.json['outbox']).toMatchObject({ attempt: 2, lastError: 'the receiver says no' });
		expect(details(twice.outputs('markFailed')![0]![0], 'outbox')).toMatchObject({ outcome: 'dead', nextAttemptAt: null });
		expect(await rowOf('a')).toMatchObject({ state: 'd' });
	});

	it('Mark Failed of a message that it has given up before does not say that it comes again', async () => {
		await added('a');
		const failing = outboxNode('markFailed', { options: { maxAttempts: 1 } });
		const finished = await next([fails, failing, { ...failing, name: 'Again' }]);
		for (const name of ['markFailed', 'Again']) {
			expect(details(finished.outputs(name)![0]![0], 'outbox')).toMatchObject({ outcome: 'dead', nextAttemptAt: null, message: expect.stringContaining('given up') });
		}
	});

	it('a fixed wait', async () => {
		await added('a');
		await next([fails, outboxNode('markFailed', { options: { retryAfterMinutes: 10 } })]);
		const { waits } = await rowOf('a');
		expect(waits).toBeGreaterThan(590);
		expect(waits).toBeLessThanOrEqual(600);
	});

	it('is loud where the lease was lost, and goes on only where the user wants it', async () => {
		const takenOver = { name: 'Send', act: async () => {
			await passTime('a');
			await next();
		} };
		for (const onError of [undefined, 'continueRegularOutput'] as const) {
			await stage.database.query('DELETE FROM n8n_idempotency_outbox');
			await added('a');
			const finished = await next([takenOver, outboxNode('markSent', { node: { onError } })]);
			if (onError === undefined) expect(finished.error?.message).toBe('The message is no longer held by this execution');
			else expect(details(finished.outputs('markSent')![0]![0], 'outbox')).toMatchObject({ outcome: 'fenced_out', reason: 'lease_taken_over' });
			expect(await rowOf('a')).toMatchObject({ state: 'l', attempt: 2 });
		}
	});

	it('by token', async () => {
		await added('a');
		const token = details((await next()).outputs('Next')![0]![0], 'outbox')['messageToken'] as string;
		const run = async (messageToken: string) =>
			await runGate(stage, [plain({})], { nodes: [outboxNode('markSent', { parameters: { message: 'messageToken', messageToken } })], wires: [['Start', 'markSent']] });
		for (const wrong of [' ', 'x', `${token}x`, token.slice(2)]) expect((await run(wrong)).error?.message).toContain("'Message Token' is not");
		expect((await run(token)).error).toBeUndefined();
		expect(await rowOf('a')).toMatchObject({ state: 's' });
	});

	it('says what is wrong where there is no message before it, or the pairing is lost', async () => {
		const alone = await runGate(stage, [plain({})], { nodes: [outboxNode('markSent')], wires: [['Start', 'markSent']] });
		expect(alone.error?.message).toBe('No message was found before this node');
		await added('a', 'b');
		const lost = { name: 'Send', act: async () => [{ json: {} }, { json: {} }, { json: {} }] };
		const finished = await next([lost, outboxNode('markSent')]);
		expect(finished.error?.message).toContain("The node 'Send' does not say which message its items belong to");
	});
});

describe('a lost answer', () => {
	let proxy: LossyProxy;
	let credentials: NonNullable<Setup['credentials']>;
	beforeEach(async () => {
		proxy = await lossyProxy(stage.postgres);
		credentials = { Postgres: { ...stage.postgres, port: proxy.port } };
	});
	afterEach(() => proxy.close());

	const retryOnFail = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	const healing = (onTry: (tries: number) => void) => (number: number) => {
		onTry(number);
		if (number === 2) proxy.heal();
	};

	it('of Add Message adds one message', async () => {
		proxy.lose(/INSERT INTO/);
		let tries = 0;
		const node = add({ options: { messageKey: 'once' }, node: retryOnFail });
		const onTry = healing((number) => (tries = number));
		const finished = await runGate(stage, [plain({})], { workflowId, credentials, nodes: [node], wires: [['Start', 'Add']], onTry });
		expect([proxy.lost > 0, tries]).toEqual([true, 2]);
		expect(finished.outputs('Add')!.flat().map((item) => details(item, 'outbox')['outcome'])).toEqual(['already_added']);
		expect(keysOf((await next()).outputs('Next')![0])).toEqual(['once']);
	});

	it('of Get Next Messages gives the same messages to the second try', async () => {
		await added('a', 'b');
		proxy.lose(/state = 'l'/);
		const finished = await next([], { credentials, node: retryOnFail, onTry: healing(() => {}) });
		expect(proxy.lost).toBeGreaterThan(0);
		expect(keysOf(finished.outputs('Next')![0])).toEqual(['a', 'b']);
		expect(await rowOf('a')).toMatchObject({ attempt: 1 });
	});

	it('of Mark Sent is no lost lease', async () => {
		await added('a');
		const cut = {
			name: 'Send',
			act: async () => {
				proxy.lose(/locked/);
			},
		};
		const finished = await next([cut, outboxNode('markSent', { node: retryOnFail })], {
			credentials,
			onTry: (number, node) => {
				if (node === 'markSent' && number === 2) proxy.heal();
			},
		});
		expect(proxy.lost).toBeGreaterThan(0);
		expect(finished.error).toBeUndefined();
		expect(details(finished.outputs('markSent')![0]![0], 'outbox')).toMatchObject({ outcome: 'sent' });
	});
});
