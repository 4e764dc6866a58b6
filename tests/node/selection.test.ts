/** How an operation finds its event: by item lineage, by token, by id, by execution. */
import { randomUUID } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Flow } from './engine';
import { eventNode, handle, type Link, linked, rowOf, runLife } from './life';
import { delivery, details, freshWorkflow, gateNode, openStage, plain, runGate, type Stage } from './stage';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

const newId = () => `evt_${randomUUID()}`;
const complete = eventNode('complete');
const unfinishedEvents = 'takeOver';
const outcomes = (items: INodeExecutionData[] | undefined) => (items ?? []).map((item) => [details(item)['outcome'], details(item)['eventId']]);
const states = async (...ids: string[]) => await Promise.all(ids.map(async (id) => (await rowOf(stage, id)).state));

/** As a Code node that returns other items without saying which of them stems from which. */
const code: Link = { name: 'Code', act: async (items) => [...items, ...items].map(() => ({ json: { made: true } })) };
/** The same, but each item keeps its fields. */
const copying: Link = { name: 'Code', act: async (items) => [...items, plain({})].slice(0, items.length).reverse().map(({ json }) => ({ json })) };

describe('Claimed Before This Node', () => {
	it('by the item\'s lineage, whatever name the details have', async () => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [handle, complete], { options: { resultField: 'gate' } });
		expect(outcomes(finished.outputs('Complete')![0])).toEqual([['completed', id]]);
	});

	it('whatever name the details have by an expression', async () => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [handle, complete], { options: { resultField: "={{ 'ga' + 'te' }}" } });
		expect(outcomes(finished.outputs('Complete')![0])).toEqual([['completed', id]]);
	});

	it('not by what the sender wrote', async () => {
		const [id, other] = [newId(), newId()];
		const first = await runLife(stage, [delivery({ id: other })], []);
		const forged = delivery({ id });
		forged.json['body'] = details(first.outputs('Gate')![0]![0]);
		const keepBody: Link = { name: 'Set', act: async (items) => items.map(({ json }, item) => ({ json: { body: json['body']! }, pairedItem: { item } })) };
		const finished = await runLife(stage, [forged], [keepBody, complete]);
		expect(outcomes(finished.outputs('Complete')![0])).toEqual([['completed', id]]);
		expect(await states(id, other)).toEqual(['completed', 'processing']);
	});

	it('by the token in the item, where a node in between has lost the lineage', async () => {
		const ids = [newId(), newId(), newId()];
		const finished = await runLife(stage, ids.map((id) => delivery({ id })), [copying, complete]);
		expect(finished.error).toBeUndefined();
		expect(outcomes(finished.outputs('Complete')![0])).toEqual([...ids].reverse().map((id) => ['completed', id]));
	});

	it('without either: says which node has lost it, and changes nothing', async () => {
		const ids = [newId(), newId()];
		const finished = await runLife(stage, ids.map((id) => delivery({ id })), [code, complete]);
		expect(finished.error?.message).toBe("The node 'Code' does not say which event its items belong to [item 0]");
		expect(finished.error?.description).toContain("Return 'pairedItem' with each item of 'Code'");
		expect(await states(...ids)).toEqual(['processing', 'processing']);
	});

	it('without a gate: says so', async () => {
		const finished = await runGate(stage, [plain({ id: 1 })], { nodes: [complete], wires: [['Start', 'Complete']] });
		expect(finished.error?.message).toBe('No Idempotency Gate was found before this node');
		expect(finished.error?.description).toContain("Connect this node after 'Claimed'");
	});

	it('with a gate on another branch: says so', async () => {
		const finished = await runGate(stage, [delivery()], { nodes: [complete], wires: [['Start', 'Gate'], ['Start', 'Complete']] });
		expect(finished.error?.message).toBe('No Idempotency Gate was found before this node');
	});

	it('in a sub-workflow: by the token that the item brings along', async () => {
		const id = newId();
		const main = await runLife(stage, [delivery({ id })], []);
		const items = main.outputs('Gate')![0]!;
		const sub = await runGate(stage, items, { nodes: [complete], wires: [['Start', 'Complete']] });
		expect(outcomes(sub.outputs('Complete')![0])).toEqual([['completed', id]]);
	});

	it('in a loop: each round its own', async () => {
		const ids = [newId(), newId(), newId()];
		const { nodes, types } = linked([handle, complete]);
		const finished = await runGate(stage, ids.map((id) => delivery({ id })), {
			options: { unfinishedEvents },
			types,
			nodes: [...nodes, { name: 'Loop', type: 'n8n-nodes-base.splitInBatches', typeVersion: 3, parameters: { batchSize: 1, options: {} } }],
			wires: [['Start', 'Gate'], ['Gate', 'Loop'], ['Loop', 'Handle', 1], ['Handle', 'Complete'], ['Complete', 'Loop']],
		});
		expect(finished.error).toBeUndefined();
		expect(await states(...ids)).toEqual(['completed', 'completed', 'completed']);
	});

	it('with the gate in the loop: each round its own', async () => {
		const ids = [newId(), newId()];
		const { nodes, types } = linked([handle, complete]);
		const finished = await runGate(stage, ids.map((id) => delivery({ id })), {
			options: { unfinishedEvents },
			types,
			nodes: [...nodes, { name: 'Loop', type: 'n8n-nodes-base.splitInBatches', typeVersion: 3, parameters: { batchSize: 1, options: {} } }],
			wires: [['Start', 'Loop'], ['Loop', 'Gate', 1], ['Gate', 'Handle'], ['Handle', 'Complete'], ['Complete', 'Loop']],
		});
		expect(finished.error).toBeUndefined();
		expect(await states(...ids)).toEqual(['completed', 'completed']);
	});

	it('behind a Merge of two branches', async () => {
		const id = newId();
		const { nodes, types } = linked([{ name: 'Mail', act: async () => undefined }, { name: 'Ship', act: async () => undefined }]);
		const finished = await runGate(stage, [delivery({ id })], {
			options: { unfinishedEvents },
			types,
			nodes: [
				...nodes,
				complete,
				{ name: 'Merge', type: 'n8n-nodes-base.merge', typeVersion: 3, parameters: { mode: 'combine', combineBy: 'combineByPosition', options: {} } },
			],
			wires: [['Start', 'Gate'], ['Gate', 'Mail'], ['Gate', 'Ship'], ['Mail', 'Merge'], ['Ship', 'Merge', 0, 1], ['Merge', 'Complete']],
		});
		expect(finished.error).toBeUndefined();
		expect(outcomes(finished.outputs('Complete')![0])).toEqual([['completed', id]]);
	});

	it('of several events in one item: says that it cannot know which', async () => {
		const ids = [newId(), newId()];
		const aggregate = {
			name: 'Aggregate',
			type: 'n8n-nodes-base.aggregate',
			parameters: { aggregate: 'aggregateAllItemData', destinationFieldName: 'data', options: {} },
		};
		const finished = await runLife(stage, ids.map((id) => delivery({ id })), [handle, aggregate, complete]);
		expect(finished.error?.message).toBe("The item belongs to several events of 'Gate'");
		expect(finished.error?.description).toContain('Place this node where each item still belongs to one event');
		expect(await states(...ids)).toEqual(['processing', 'processing']);
	});
});

describe('two gates', () => {
	const second = (options: object) => ({ ...gateNode({ options: { unfinishedEvents, scope: 'node', ...options } }), name: 'Second' });
	const scopes = async (id: string) => {
		const { rows } = await stage.database.query<{ scope: string; state: string }>(
			"SELECT split_part(scope, ':', 1) AS scope, state::text AS state FROM n8n_idempotency_claims WHERE event_id = $1 ORDER BY 1",
			[id],
		);
		return rows.map(({ scope, state }) => `${scope} ${state}`);
	};
	const run = async (id: string, gate: Flow['nodes'][number], wires: Flow['wires'] = []) => {
		const { nodes, types } = linked([handle, complete]);
		return await runGate(stage, [delivery({ id })], {
			options: { unfinishedEvents },
			types,
			nodes: [gate, ...nodes],
			wires: [['Start', 'Gate'], ['Gate', 'Second'], ['Second', 'Handle'], ['Handle', 'Complete'], ...wires],
		});
	};

	it('the nearest one\'s claim is ended', async () => {
		const id = newId();
		const finished = await run(id, second({}));
		expect(finished.error).toBeUndefined();
		expect(await scopes(id)).toEqual(['node c', 'workflow p']);
	});

	it('the nearest one\'s, though its details have another name and both tokens are in the item', async () => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [second({ resultField: 'second' }), complete]);
		expect(finished.error).toBeUndefined();
		expect(await scopes(id)).toEqual(['node c', 'workflow p']);
	});

	it('the one before, where the nearest sent the item to Duplicate', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		const nodes = [second({}), eventNode('complete')];
		const wires = [['Start', 'Gate'], ['Gate', 'Second'], ['Second', 'Complete', 1]] as const;
		// The second gate has had the event before; the first one gets it again.
		await runGate(stage, [delivery({ id })], { ...setup, nodes, wires: [['Start', 'Second']] });
		const finished = await runGate(stage, [delivery({ id })], { ...setup, nodes, wires, options: { unfinishedEvents } });
		expect(finished.error).toBeUndefined();
		expect(await scopes(id)).toEqual(['node p', 'workflow c']);
	});

	it('side by side and merged again: says that it cannot know which', async () => {
		const id = newId();
		const finished = await runGate(stage, [delivery({ id })], {
			options: { unfinishedEvents },
			nodes: [
				second({}),
				complete,
				{ name: 'Merge', type: 'n8n-nodes-base.merge', typeVersion: 3, parameters: { mode: 'combine', combineBy: 'combineByPosition', options: {} } },
				...linked([handle]).nodes,
			],
			types: linked([handle]).types,
			wires: [['Start', 'Gate'], ['Start', 'Second'], ['Gate', 'Merge'], ['Second', 'Merge', 0, 1], ['Merge', 'Handle'], ['Handle', 'Complete']],
		});
		expect(finished.error?.message).toMatch(/^The item belongs to several events of '(Gate|Second)'$/);
		expect(await scopes(id)).toEqual(['node p', 'workflow p']);
	});
});

describe('By Claim Token', () => {
	it('from anywhere', async () => {
		const id = newId();
		const first = await runLife(stage, [delivery({ id })], []);
		const token = details(first.outputs('Gate')![0]![0])['claimToken'] as string;
		const node = eventNode('complete', { parameters: { event: 'claimToken', claimToken: '={{ $json.token }}' } });
		const finished = await runGate(stage, [plain({ token })], { nodes: [node], wires: [['Start', 'Complete']] });
		expect(outcomes(finished.outputs('Complete')![0])).toEqual([['completed', id]]);
	});

	it.each(['={{ "" }}', 'undefined', 'WzEsImEiXQ'])('refuses what is none: %o', async (token) => {
		const node = eventNode('complete', { parameters: { event: 'claimToken', claimToken: token } });
		const finished = await runGate(stage, [plain({})], { nodes: [node], wires: [['Start', 'Complete']] });
		expect(finished.error?.message).toBe("'Claim Token' is not the token of a claim");
	});
});

describe('By Event ID', () => {
	const byId = (parameters: object) => eventNode('complete', { parameters: { event: 'eventId', eventId: '={{ $json.id }}', ...parameters } });
	const run = async (id: string, setup: object, parameters: object = {}) => {
		return await runGate(stage, [plain({ id })], { ...setup, nodes: [byId(parameters)], wires: [['Start', 'Complete']] });
	};

	it('in this workflow', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		await runLife(stage, [delivery({ id })], [], setup);
		expect(outcomes((await run(id, setup)).outputs('Complete')![0])).toEqual([['completed', id]]);
	});

	it('in another workflow, under a custom name, and as the item says', async () => {
		const workflowId = freshWorkflow();
		const ids = [newId(), newId(), newId()] as const;
		await runLife(stage, [delivery({ id: ids[0] })], [], { workflowId });
		await runLife(stage, [delivery({ id: ids[1] })], [], { options: { scope: 'custom', scopeName: workflowId } });
		await runLife(stage, [delivery({ id: ids[2] })], [], { workflowId, mode: 'manual' });
		await run(ids[0], {}, { scope: 'otherWorkflow', workflowId });
		await run(ids[1], {}, { scope: 'custom', scopeName: workflowId });
		await run(ids[2], {}, { scope: 'exact', scopeText: `test:workflow:${workflowId}` });
		expect(await states(...ids)).toEqual(['completed', 'completed', 'completed']);
	});

	it('a test looks in the memory of tests', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		await runLife(stage, [delivery({ id })], [], setup);
		const finished = await run(id, { ...setup, mode: 'manual' });
		expect(finished.error?.message).toBe(`There is no event '${id}' in the scope 'test:workflow:${setup.workflowId}'`);
		expect(await states(id)).toEqual(['processing']);
	});

	it('says what was looked for where there is none', async () => {
		const finished = await run('evt_none', { workflowId: 'Wf-none' });
		expect(finished.error?.message).toBe("There is no event 'evt_none' in the scope 'workflow:Wf-none'");
	});

	it.each([['', 'Event ID'], ['x'.repeat(513), 'Event ID']])('refuses an id that none can have', async (id, label) => {
		expect((await run(id, {})).error?.message).toBe(`'${label}' is empty or longer than 512 bytes`);
	});
});

describe('By Execution ID, behind an Error Trigger', () => {
	const fail = eventNode('fail', { parameters: { event: 'executionId' } });
	const report = (workflowId: string, execution: object) => plain({ execution: { error: { message: 'The bank did not answer' }, ...execution }, workflow: { id: workflowId } });
	const runReport = async (item: INodeExecutionData) => await runGate(stage, [item], { nodes: [fail], wires: [['Start', 'Fail']], mode: 'error' as never });

	it('all that the failed execution had in progress, in whatever scope, with nothing to type', async () => {
		const setup = { workflowId: freshWorkflow(), executionId: '5001' };
		const ids = [newId(), newId(), newId()];
		const named = { ...gateNode({ options: { unfinishedEvents, scope: 'custom', scopeName: 'billing' } }), name: 'Second' };
		await runGate(stage, ids.slice(0, 2).map((id) => delivery({ id })), { ...setup, options: { unfinishedEvents } });
		await runGate(stage, [delivery({ id: ids[2]! })], { ...setup, nodes: [named], wires: [['Start', 'Second']] });
		const finished = await runReport(report(setup.workflowId, { id: '5001' }));
		expect(finished.error).toBeUndefined();
		expect(finished.outputs('Fail')![0]!.map((item) => details(item)['outcome'])).toEqual(['failed', 'failed', 'failed']);
		expect(await states(...ids)).toEqual(['failed', 'failed', 'failed']);
		expect((await rowOf(stage, ids[0]!)).error).toBe('The bank did not answer');
	});

	it('not what is done, and not what another n8n or another workflow has in progress under the same number', async () => {
		const [done, mine, others] = [newId(), newId(), newId()];
		const setup = { workflowId: freshWorkflow(), executionId: '5002' };
		await runLife(stage, [delivery({ id: done })], [complete], setup);
		await runLife(stage, [delivery({ id: mine })], [], setup);
		await runLife(stage, [delivery({ id: others })], [], { workflowId: freshWorkflow(), executionId: '5002', options: { scope: 'custom', scopeName: 'billing' } });
		const finished = await runReport(report(setup.workflowId, { id: '5002' }));
		expect(outcomes(finished.outputs('Fail')![0])).toEqual([['failed', mine]]);
		expect(await states(done, mine, others)).toEqual(['completed', 'failed', 'processing']);
	});

	it('of an execution that was retried, also what the first try claimed', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow(), executionId: '5003' };
		await runLife(stage, [delivery({ id })], [], setup);
		await runReport(report(setup.workflowId, { id: '5004', retryOf: '5003' }));
		expect(await states(id)).toEqual(['failed']);
	});

	it('of an execution that held nothing: no failure', async () => {
		const finished = await runReport(report(freshWorkflow(), { id: '5005' }));
		expect(finished.error).toBeUndefined();
		expect(outcomes(finished.outputs('Fail')![0])).toEqual([['not_claimed', undefined]]);
	});

	it('of an execution that never began: says why there is no id', async () => {
		const finished = await runReport(plain({ trigger: { error: { message: 'no port' } }, workflow: { id: 'Wf1' } }));
		expect(finished.error?.message).toContain('Execution ID');
	});
});
