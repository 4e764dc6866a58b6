/** How an operation finds its event with nothing to type: by the item's lineage. */
import { randomUUID } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acting, GATE, type Flow } from './engine';
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
/** The same, but each item keeps its fields. Of another number of items n8n does not guess which stems from which. */
const copying: Link = { name: 'Code', act: async (items) => items.slice(1).reverse().map(({ json }) => ({ json })) };
const merge = { name: 'Merge', type: 'n8n-nodes-base.merge', typeVersion: 3, parameters: { mode: 'combine', combineBy: 'combineByPosition', options: {} } };

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
		expect(outcomes(finished.outputs('Complete')![0])).toEqual(ids.slice(1).reverse().map((id) => ['completed', id]));
	});

	it.each([[[] as Link[], 'open'], [[complete], 'done']])('not by what a sub-workflow with a gate of its own has brought back: %#', async (chain) => {
		const [id, other] = [newId(), newId()];
		const sub = await runLife(stage, [delivery({ id: other })], chain);
		const { json } = sub.outputs(chain.length > 0 ? 'Complete' : 'Gate')![0]![0]!;
		const before = await states(other);
		const call: Link = { name: 'Sub', act: async () => [{ json, pairedItem: { item: 0 } }] };
		const finished = await runLife(stage, [delivery({ id })], [call, complete]);
		expect(outcomes(finished.outputs('Complete')![0])).toEqual([['completed', id]]);
		expect(await states(id, other)).toEqual(['completed', ...before]);
	});

	it('an item with the claim of another item: says that it cannot know which', async () => {
		const ids = [newId(), newId()];
		const swap: Link = { name: 'Swap', act: async (items) => items.map((_, item) => ({ json: items[1 - item]!.json, pairedItem: { item } })) };
		const finished = await runLife(stage, ids.map((id) => delivery({ id })), [swap, complete]);
		expect(finished.error?.message).toBe("The item belongs to several events of 'Gate' [item 0]");
		expect(await states(...ids)).toEqual(['processing', 'processing']);
	});

	it('a list behind a gate is about what it lists', async () => {
		const [id, dead] = [newId(), newId()];
		const workflowId = freshWorkflow();
		await runLife(stage, [delivery({ id: dead })], [eventNode('fail', { parameters: { retry: false } })], { workflowId });
		const filters = { states: ['dead'], scopeText: `workflow:${workflowId}` };
		const chain = [eventNode('getMany', { parameters: { filters } as never }), eventNode('get'), eventNode('reopen', { parameters: { reason: 'paid on paper' } })];
		const finished = await runLife(stage, [delivery({ id })], chain, { workflowId });
		expect(finished.error).toBeUndefined();
		expect(outcomes(finished.outputs('Get')![0])).toEqual([['found', dead]]);
		expect(outcomes(finished.outputs('Reopen')![0])).toEqual([['reopened', dead]]);
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

	it.each([[[handle, complete]], [[complete]]])('in a loop: each round its own: %#', async (chain: readonly Link[]) => {
		const ids = [newId(), newId(), newId()];
		const { nodes, types } = linked(chain);
		const finished = await runGate(stage, ids.map((id) => delivery({ id })), {
			options: { unfinishedEvents },
			types,
			nodes: [...nodes, { name: 'Loop', type: 'n8n-nodes-base.splitInBatches', typeVersion: 3, parameters: { batchSize: 1, options: {} } }],
			wires: [['Start', 'Gate'], ['Gate', 'Loop'], ['Loop', chain[0]!.name, 1], ...(chain.length > 1 ? [['Handle', 'Complete'] as const] : []), ['Complete', 'Loop']],
		});
		expect(finished.error).toBeUndefined();
		expect(await states(...ids)).toEqual(['completed', 'completed', 'completed']);
	});

	it.each([[[handle, complete]], [[complete]]])('with the gate in the loop: each round its own: %#', async (chain: readonly Link[]) => {
		const ids = [newId(), newId()];
		const { nodes, types } = linked(chain);
		const finished = await runGate(stage, ids.map((id) => delivery({ id })), {
			options: { unfinishedEvents },
			types,
			nodes: [...nodes, { name: 'Loop', type: 'n8n-nodes-base.splitInBatches', typeVersion: 3, parameters: { batchSize: 1, options: {} } }],
			wires: [['Start', 'Loop'], ['Loop', 'Gate', 1], ['Gate', chain[0]!.name], ...(chain.length > 1 ? [['Handle', 'Complete'] as const] : []), ['Complete', 'Loop']],
		});
		expect(finished.error).toBeUndefined();
		expect(await states(...ids)).toEqual(['completed', 'completed']);
	});

	it('behind the end of a loop: every round\'s', async () => {
		const ids = [newId(), newId(), newId()];
		const { nodes, types } = linked([handle]);
		const finished = await runGate(stage, ids.map((id) => delivery({ id })), {
			options: { unfinishedEvents },
			types,
			nodes: [...nodes, complete, { name: 'Loop', type: 'n8n-nodes-base.splitInBatches', typeVersion: 3, parameters: { batchSize: 1, options: {} } }],
			wires: [['Start', 'Gate'], ['Gate', 'Loop'], ['Loop', 'Complete', 0], ['Loop', 'Handle', 1], ['Handle', 'Loop']],
		});
		expect(finished.error).toBeUndefined();
		expect(outcomes(finished.outputs('Complete')![0])).toEqual(ids.map((id) => ['completed', id]));
	});

	it('behind our own trigger, which claims before the execution begins', async () => {
		const id = newId();
		const first = await runLife(stage, [delivery({ id })], []);
		const trigger = `${GATE}Trigger`;
		const { nodes, types } = linked([handle, complete]);
		const finished = await runGate(stage, first.outputs('Gate')![0]!, {
			types: { ...types, [trigger]: acting(async function () {
				return [this.getInputData()];
			}) },
			nodes: [...nodes, { name: 'Trigger', type: trigger }],
			wires: [['Start', 'Trigger'], ['Trigger', 'Handle'], ['Handle', 'Complete']],
		});
		expect(finished.error).toBeUndefined();
		expect(outcomes(finished.outputs('Complete')![0])).toEqual([['completed', id]]);
	});

	it('not by a gate that is switched off, nor by a node of ours that claims nothing', async () => {
		const { nodes, types } = linked([handle, complete]);
		const off = { ...gateNode(), name: 'Off', disabled: true };
		const list = eventNode('getMany', { parameters: { limit: 1 } });
		const finished = await runGate(stage, [delivery()], {
			types,
			nodes: [...nodes, off, list],
			wires: [['Start', 'Off'], ['Off', 'GetMany'], ['GetMany', 'Handle'], ['Handle', 'Complete']],
		});
		expect(finished.error?.message).toBe('No Idempotency Gate was found before this node');
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
				merge,
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

	it.each([[[] as Link[]], [[handle]]])('each by a Complete of its own, one behind the other: %#', async (between) => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [second({}), complete, ...between, eventNode('complete', { name: 'Outer' })]);
		expect(finished.error).toBeUndefined();
		expect(details(finished.outputs('Outer')![0]![0])).toMatchObject({ outcome: 'completed', verdict: 'settled', eventId: id });
		expect(await scopes(id)).toEqual(['node c', 'workflow c']);
	});

	it('on branches of their own, each Complete has the nearest; the one that finds it ended names the other', async () => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [second({}), complete], {
			nodes: [eventNode('complete', { name: 'Other' })],
			wires: [['Second', 'Other']],
		});
		expect(finished.error).toBeUndefined();
		expect(await scopes(id)).toEqual(['node c', 'workflow p']);
		const told = ['Complete', 'Other'].map((name) => details(finished.outputs(name)![0]![0]));
		expect(told.map(({ verdict, gateBefore }) => [verdict, gateBefore])).toEqual([['settled', undefined], ['already', 'Gate']]);
		expect(finished.hints.map(({ message }) => message).join()).toContain("'Gate' has claimed one for the item too, which may still be open. If it is meant, set 'Event' to By Claim Token");
	});

	it('an event that was completed and reopened on the way is not passed over', async () => {
		const id = newId();
		const reopen = eventNode('reopen', { parameters: { reason: 'once more' } });
		const finished = await runLife(stage, [delivery({ id })], [complete, reopen, handle, eventNode('complete', { name: 'Again' })]);
		expect(finished.error).toBeUndefined();
		expect(details(finished.outputs('Again')![0]![0])).toMatchObject({ verdict: 'settled' });
		expect(await rowOf(stage, id)).toMatchObject({ state: 'completed', attempt: 2 });
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

	it.each([[[]], [[handle]]])('side by side and merged again, also where one token is left: says that it cannot know which: %#', async (chain: Link[]) => {
		const id = newId();
		const { nodes, types } = linked(chain);
		const names = ['Merge', ...nodes.map(({ name }) => name), 'Complete'];
		const finished = await runGate(stage, [delivery({ id })], {
			options: { unfinishedEvents },
			nodes: [
				second({}),
				complete,
				merge,
				...nodes,
			],
			types,
			wires: [['Start', 'Gate'], ['Start', 'Second'], ['Gate', 'Merge'], ['Second', 'Merge', 0, 1], ...names.slice(1).map((name, at) => [names[at]!, name] as const)],
		});
		expect(finished.error?.message).toMatch(/^The item belongs to several events of '(Gate|Second)'$/);
		expect(await scopes(id)).toEqual(['node p', 'workflow p']);
	});
});
