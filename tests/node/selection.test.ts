/** How an operation finds its event where the item has no gate before it: by token, by id, by execution. */
import { randomUUID } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventNode, rowOf, runLife } from './life';
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
