/** Executions from the editor, and the moment by which a signed time is judged. */
import { randomUUID } from 'node:crypto';
import type { INodeExecutionData } from 'n8n-workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finished } from './engine';
import { endLease, eventNode, rowOf, runLife } from './life';
import { delivery, details, freshWorkflow, gateNode, openStage, plain, routes, runGate, type Setup, type Stage } from './stage';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

const hour = 3_600_000;
const text = (finished: Awaited<ReturnType<typeof runGate>>) => finished.hints.map(({ message }) => message).join('\n');

describe('a test execution', () => {
	it('always goes on, says what production would have done, and does not use up the real event', async () => {
		const setup = { workflowId: freshWorkflow() };
		const item = delivery();
		const first = await runGate(stage, [item], { ...setup, mode: 'manual', executionId: '88' });
		const second = await runGate(stage, [item], { ...setup, mode: 'manual', executionId: '89' });
		expect(routes(first)).toEqual([['claimed'], [], []]);
		expect(text(first)).toMatch(/^An event counts as done when it is claimed\. Add the operation 'Complete'[^.]*$/);
		expect(routes(second)).toEqual([['claimed'], [], []]);
		const [out] = second.outputs('Gate')![0]!;
		expect(out!.json['claimed']).toBe(true);
		expect(details(out)).toMatchObject({
			outcome: 'claimed',
			outcomeInProduction: 'completed',
			scope: `test:workflow:${setup.workflowId}`,
			test: true,
		});
		expect(text(second)).toContain("In production this event would have gone to 'Duplicate': it was claimed by execution 88");

		const production = await runGate(stage, [item], setup);
		expect(routes(production)).toEqual([['claimed'], [], []]);
		expect(details(production.outputs('Gate')![0]![0])['test']).toBe(false);
	});

	it('has nothing to say about a workflow that completes its events, or is told what becomes of them', async () => {
		const setup = { workflowId: freshWorkflow(), mode: 'manual' as const };
		const completing = { ...gateNode(), name: 'Complete', parameters: { resource: 'event', operation: 'complete' } };
		const completed = await runGate(stage, [delivery()], { ...setup, nodes: [completing], wires: [['Start', 'Gate'], ['Gate', 'Complete']] });
		const told = await runGate(stage, [delivery()], { ...setup, options: { unfinishedEvents: 'alwaysDuplicate' } });
		expect([text(completed), text(told)]).toEqual(['', '']);
	});

	it('routes for real in a memory of its own, if asked for', async () => {
		const setup = { workflowId: freshWorkflow(), options: { testExecutions: 'separateReal' } };
		const item = delivery();
		await runGate(stage, [item], { ...setup, mode: 'manual' });
		expect(routes(await runGate(stage, [item], { ...setup, mode: 'manual' }))).toEqual([[], ['completed'], []]);
		expect(routes(await runGate(stage, [item], setup))).toEqual([['claimed'], [], []]);
	});

	it('shares the memory of production, if asked for', async () => {
		const setup = { workflowId: freshWorkflow(), options: { testExecutions: 'production' } };
		const item = delivery();
		await runGate(stage, [item], { ...setup, mode: 'manual' });
		expect(routes(await runGate(stage, [item], setup))).toEqual([[], ['completed'], []]);
	});

	it('accepts an old timestamp, as of pinned data, with a hint', async () => {
		const item = delivery({}, { at: Date.now() - 72 * hour });
		const finished = await runGate(stage, [item], { mode: 'manual' });
		expect(routes(finished)).toEqual([['claimed'], [], []]);
		expect(text(finished)).toContain('The timestamp of the request is 3 days old');
	});

	it('still rejects a bad signature', async () => {
		const finished = await runGate(stage, [delivery({}, { secret: 'whsec_wrong' })], { mode: 'manual' });
		expect(routes(finished)).toEqual([[], [], ['rejected']]);
	});

	it('says what is special about pinned data without a raw body', async () => {
		const { json } = delivery();
		expect(text(await runGate(stage, [{ json }], { mode: 'manual' }))).toContain('Pinned data has a raw body only if');
	});
});

describe('a test leaves the claims of production alone', () => {
	const workflowId = freshWorkflow();
	const mode = 'manual' as const;
	const claimed = async (setup: Setup = {}) => {
		const id = `evt_${randomUUID()}`;
		const finished = await runLife(stage, [delivery({ id })], [], { workflowId, ...setup });
		return { id, items: finished.outputs('Gate')![0]! };
	};
	const run = async (items: INodeExecutionData[], node: ReturnType<typeof eventNode>) => {
		return await runGate(stage, items, { mode, workflowId, nodes: [node, { name: 'After' }], wires: [['Start', node.name], [node.name, 'After']] });
	};
	const expectSpared = async (finished: Finished, id: string, name = 'Complete') => {
		expect(finished.error).toBeUndefined();
		expect(finished.outputs(name)!.flat().map((item) => details(item))).toMatchObject([
			{ outcome: 'not_claimed', eventId: id, message: 'The event is one of production and this is a test, so nothing was changed' },
		]);
		expect(text(finished)).toContain('A test has a memory of its own');
		expect(finished.received('After')).toBe(1);
		expect(await rowOf(stage, id)).toMatchObject({ state: 'processing', stage: null });
	};

	it('items of a production execution, as pinned ones are', async () => {
		const { id, items } = await claimed();
		await expectSpared(await run(items, eventNode('complete')), id);
		const advance = eventNode('advance', { parameters: { stages: 'charged', stage: 'charged' } });
		await expectSpared(await run(items, advance), id, 'Advance');
	});

	it('By Claim Token, By Event ID and By Execution ID', async () => {
		const { id, items } = await claimed({ executionId: '7001' });
		const ways = [
			{ event: 'claimToken', claimToken: details(items[0])['claimToken'] },
			{ event: 'eventId', eventId: id, scope: 'otherWorkflow', workflowId },
			{ event: 'eventId', eventId: id, scope: 'exact', scopeText: `workflow:${workflowId}` },
			{ event: 'executionId', executionId: '7001', executionWorkflowId: workflowId },
		];
		for (const parameters of ways) await expectSpared(await run([plain({})], eventNode('complete', { parameters: parameters as never })), id);
	});

	it('but not those that the test has taken from production itself, as it was told to', async () => {
		const gate = await claimed();
		const ownGate = `evt_${randomUUID()}`;
		const own = await runLife(stage, [delivery({ id: ownGate })], [eventNode('complete')], { workflowId, mode, options: { testExecutions: 'production' } });
		expect(details(own.outputs('Complete')![0]![0])['outcome']).toBe('completed');

		await endLease(stage, gate.id);
		const recover = eventNode('recover', { name: 'Recover', parameters: { resource: 'store' }, options: { scope: 'workflow', workflowId, testExecutions: 'production' } });
		const recovered = await runGate(stage, [plain({})], { mode, workflowId, nodes: [recover, eventNode('complete')], wires: [['Start', 'Recover'], ['Recover', 'Complete']] });
		expect(recovered.outputs('Complete')![0]!.map((item) => details(item)['outcome'])).toEqual(['completed']);
		expect([(await rowOf(stage, ownGate)).state, (await rowOf(stage, gate.id)).state]).toEqual(['completed', 'completed']);

		const reopen = eventNode('reopen', { parameters: { event: 'eventId', eventId: gate.id, scope: 'otherWorkflow', workflowId, reason: 'once more' } });
		const reopened = await runGate(stage, [plain({})], { mode, nodes: [reopen, eventNode('complete')], wires: [['Start', 'Reopen'], ['Reopen', 'Complete']] });
		expect(reopened.outputs('Complete')![0]!.map((item) => details(item)['outcome'])).toEqual(['completed']);
		expect(await rowOf(stage, gate.id)).toMatchObject({ state: 'completed', attempt: 3 });
	});
});

describe('the signed time', () => {
	it('is judged by the provider\'s window in production', async () => {
		const finished = await runGate(stage, [delivery({}, { at: Date.now() - hour })]);
		expect(routes(finished)).toEqual([[], [], ['rejected']]);
		expect(details(finished.outputs('Gate')![2]![0])).toMatchObject({
			reason: 'timestamp_outside_tolerance',
			response: { statusCode: 401 },
		});
	});

	it('is judged by when the request came in, however long it waited in a queue', async () => {
		const at = Date.now() - hour;
		const finished = await runGate(stage, [delivery({}, { at })], { receivedAt: at });
		expect(routes(finished)).toEqual([['claimed'], [], []]);
		const { ageSeconds } = details(finished.outputs('Gate')![0]![0])['signature'] as { ageSeconds: number };
		// Stripe signs whole seconds.
		expect([0, 1]).toContain(ageSeconds);
	});

	it('is judged by now behind a Wait node, which may have been resumed by a later request', async () => {
		const setup = {
			receivedAt: Date.now() - hour,
			nodes: [{ name: 'Wait', type: 'n8n-nodes-base.wait' }],
			wires: [['Start', 'Wait'], ['Wait', 'Gate'], ['Gate', 'Claimed', 0], ['Gate', 'Rejected', 2]] as const,
		};
		const fresh = await runGate(stage, [delivery()], setup);
		const stale = await runGate(stage, [delivery({}, { at: setup.receivedAt })], setup);
		expect([fresh.received('Claimed'), stale.received('Rejected')]).toEqual([1, 1]);
	});

	it('has a window that the user can widen', async () => {
		const options = { timestampTolerance: 7200 };
		expect(routes(await runGate(stage, [delivery({}, { at: Date.now() - hour })], { options }))).toEqual([['claimed'], [], []]);
	});
});
