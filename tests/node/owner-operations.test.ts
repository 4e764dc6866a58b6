/** What the owner of a claim does with it before and at its end: Fail, Mark as Uncertain, Extend Lease, Advance. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endLease, eventNode, handle, type Link, rowOf, runLife } from './life';
import { delivery, details, freshWorkflow, openStage, plain, routes, runGate, type Stage } from './stage';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

const newId = () => `evt_${randomUUID()}`;
const minute = 60_000;

describe('Fail', () => {
	const failing = (json: object): Link => ({ name: 'Charge', act: async (items) => items.map((_, item) => ({ json: json as never, pairedItem: { item } })) });

	it.each<[what: string, json: object]>([
		['a node\'s error output', { error: { message: 'The bank did not answer' } }],
		['a node that continues on its error', { error: 'The bank did not answer' }],
	])('takes the reason from %s', async (_, json) => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [failing(json), eventNode('fail')]);
		expect(finished.error).toBeUndefined();
		expect(details(finished.outputs('Fail')![0]![0])).toMatchObject({ outcome: 'failed', status: 'failed', needsAttention: false });
		expect(await rowOf(stage, id)).toMatchObject({ state: 'failed', error: 'The bank did not answer' });
	});

	it('waits up to a minute after the first attempt, and as long as the user says', async () => {
		const [growing, fixed] = [newId(), newId()];
		await runLife(stage, [delivery({ id: growing })], [handle, eventNode('fail')]);
		await runLife(stage, [delivery({ id: fixed })], [handle, eventNode('fail', { options: { retryAfterMinutes: 30 } })]);
		expect((await rowOf(stage, growing)).waits_ms).toBeLessThanOrEqual(minute);
		const { waits_ms } = await rowOf(stage, fixed);
		expect(waits_ms! / minute).toBeGreaterThan(29);
		expect(waits_ms! / minute).toBeLessThanOrEqual(30);
	});

	it('keeps no secret and no novel', async () => {
		const id = newId();
		const message = `connect postgres://app:hunter2@db:5432 failed,\n\u0000 with Bearer abcdefghijkl and sk_live_abcdefghijkl ${'x'.repeat(600)}`;
		await runLife(stage, [delivery({ id })], [failing({ error: { message } }), eventNode('fail')]);
		const { error } = await rowOf(stage, id);
		expect(error).toMatch(/^connect postgres:\/\/app:\*\*\*@db:5432 failed, with Bearer \*\*\* and \*\*\* x+\.\.\.$/);
		expect(error).toHaveLength(500);
	});

	it('without a reason says that there was none', async () => {
		const id = newId();
		await runLife(stage, [delivery({ id })], [handle, eventNode('fail')]);
		expect((await rowOf(stage, id)).error).toBe('No reason was given');
	});

	it('for good: the event is dead, and a redelivery is a duplicate that needs attention', async () => {
		const setup = { workflowId: freshWorkflow() };
		const item = delivery();
		const finished = await runLife(stage, [item], [handle, eventNode('fail', { parameters: { retry: false } })], setup);
		expect(details(finished.outputs('Fail')![0]![0])).toMatchObject({ outcome: 'dead', needsAttention: true });
		const again = await runLife(stage, [item], [], setup);
		expect(routes(again)).toEqual([[], ['dead'], []]);
	});

	it('at the last attempt: the event is dead', async () => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [handle, eventNode('fail')], { options: { maxAttempts: 1 } });
		expect(details(finished.outputs('Fail')![0]![0])).toMatchObject({ outcome: 'dead', message: 'The event is given up, since its attempts are used up' });
	});

	it('at once due: the next delivery has it, with one attempt more', async () => {
		const setup = { workflowId: freshWorkflow() };
		const item = delivery();
		await runLife(stage, [item], [handle, eventNode('fail', { options: { retryAfterMinutes: 0 } })], setup);
		const again = await runLife(stage, [item], [handle, eventNode('complete')], setup);
		expect(routes(again)).toEqual([['retried'], [], []]);
		expect(details(again.outputs('Gate')![0]![0])['attempt']).toBe(2);
	});
});

describe('Mark as Uncertain', () => {
	it('leaves the event to a person', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		const node = eventNode('markUncertain', { parameters: { reason: 'No answer from the bank' } });
		const finished = await runLife(stage, [delivery({ id })], [handle, node], setup);
		expect(details(finished.outputs('MarkUncertain')![0]![0])).toMatchObject({ outcome: 'uncertain', needsAttention: true });
		expect(await rowOf(stage, id)).toMatchObject({ state: 'uncertain', error: 'No answer from the bank' });
		expect(routes(await runLife(stage, [delivery({ id })], [], setup))).toEqual([[], ['uncertain'], []]);
	});
});

describe('Extend Lease', () => {
	it('begins the lease anew, also where it is over', async () => {
		const id = newId();
		const slow: Link = { name: 'Slow', act: async () => await endLease(stage, id) };
		const node = eventNode('extendLease', { parameters: { leaseMinutes: 120 } });
		const finished = await runLife(stage, [delivery({ id })], [slow, handle, node]);
		expect(finished.error).toBeUndefined();
		const { leased_ms, state } = await rowOf(stage, id);
		expect(state).toBe('processing');
		expect(leased_ms! / minute).toBeGreaterThan(119);
		const told = details(finished.outputs('ExtendLease')![0]![0]);
		expect(told['outcome']).toBe('extended');
		expect(Date.parse(told['leaseUntil'] as string) - Date.now()).toBeGreaterThan(119 * minute);
	});

	it('of an event that has ended: stops the workflow', async () => {
		const finished = await runLife(stage, [delivery()], [eventNode('complete'), eventNode('extendLease')]);
		expect(finished.error?.message).toBe('The event is not in progress any more');
	});
});

describe('Advance', () => {
	const stages = 'charged, fulfilled, notified';
	const to = (stage: string, more: Parameters<typeof eventNode>[1] = {}) => eventNode('advance', { name: `To ${stage}`, ...more, parameters: { stages, stage, ...more.parameters } });
	const leaving = (finished: Awaited<ReturnType<typeof runLife>>, name: string) => finished.outputs(name)!.map((items) => items.map((item) => details(item)['outcome']));

	it('forward by the first output, never back and never twice', async () => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [handle, to('charged'), to('notified')], {
			nodes: [to('fulfilled'), { ...to('notified'), name: 'Again' }],
			wires: [['To notified', 'To fulfilled'], ['To notified', 'Again']],
		});
		expect(finished.error).toBeUndefined();
		expect(leaving(finished, 'To charged')).toEqual([['advanced'], []]);
		expect(details(finished.outputs('To notified')![0]![0])).toMatchObject({ stage: 'notified', stageBefore: 'charged', status: 'processing' });
		expect(leaving(finished, 'To fulfilled')).toEqual([[], ['already_there']]);
		expect(leaving(finished, 'Again')).toEqual([[], ['already_there']]);
		expect((await rowOf(stage, id)).stage).toBe('notified');
	});

	it('a step that was done is not done again after a crash: the next owner is told how far it was', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		await runLife(stage, [delivery({ id })], [to('charged')], setup);
		await endLease(stage, id);
		const again = await runLife(stage, [delivery({ id })], [to('charged')], setup);
		expect(details(again.outputs('Gate')![0]![0])).toMatchObject({ outcome: 'taken_over', stage: 'charged' });
		expect(leaving(again, 'To charged')).toEqual([[], ['already_there']]);
		expect(again.received('Done')).toBe(0);
	});

	it('by an owner that has lost the event: stops the workflow', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		const slow: Link = {
			name: 'Slow',
			act: async () => {
				await endLease(stage, id);
				await runLife(stage, [delivery({ id })], [], setup);
			},
		};
		const finished = await runLife(stage, [delivery({ id })], [slow, to('charged')], setup);
		expect(finished.error?.message).toBe('The event is no longer held by this execution');
		expect((await rowOf(stage, id)).stage).toBeNull();
	});

	it('of several events, one of which is lost: the steps of the others are done, since nobody would be told again', async () => {
		const [lost, held] = [newId(), newId()];
		const setup = { workflowId: freshWorkflow() };
		const slow: Link = {
			name: 'Slow',
			act: async () => {
				await endLease(stage, lost);
				await runLife(stage, [delivery({ id: lost })], [], setup);
			},
		};
		const finished = await runLife(stage, [delivery({ id: lost }), delivery({ id: held })], [slow, to('charged')], setup);
		expect(finished.error).toBeUndefined();
		expect(leaving(finished, 'To charged')).toEqual([['advanced'], ['fenced_out']]);
		expect(details(finished.outputs('To charged')![0]![0])['eventId']).toBe(held);
		expect(finished.hints.map(({ message }) => message).join()).toContain('The event is no longer held by this execution');
	});

	it('what a test lets through goes on; a duplicate does not', async () => {
		const setup = { workflowId: freshWorkflow(), mode: 'manual' as const };
		const item = delivery();
		await runLife(stage, [item], [eventNode('complete')], setup);
		expect(leaving(await runLife(stage, [item], [to('charged')], setup), 'To charged')).toEqual([['not_claimed'], []]);
		const routed = await runGate(stage, [item], { ...setup, options: { testExecutions: 'separateReal' }, nodes: [to('charged')], wires: [['Start', 'Gate'], ['Gate', 'To charged', 1]] });
		expect(leaving(routed, 'To charged')).toEqual([[], ['not_claimed']]);
	});

	it.each<[what: string, parameters: object, message: string]>([
		['no stages', { stages: '={{ " , " }}' }, "'Stages' is empty"],
		['a stage twice', { stages: 'charged, charged' }, "'Stages' names a stage twice"],
		['a stage that is not among them', { stage: 'sent' }, "'Stage' is 'sent', which is not among the stages"],
		['stages that are not a text', { stages: '={{ $json.nothing }}' }, "'Stages' is not a text"],
	])('refuses %s', async (_, parameters, message) => {
		const finished = await runLife(stage, [delivery()], [to('charged', { name: 'Advance', parameters: { ...parameters } as never })]);
		expect(finished.error?.message).toBe(message);
	});

	it('from a stage that it does not know: stops the workflow', async () => {
		const other = eventNode('advance', { name: 'Other', parameters: { stages: 'reserved, paid', stage: 'reserved' } });
		const finished = await runLife(stage, [delivery()], [other, to('charged')]);
		expect(finished.error?.message).toBe("The event is at the stage 'reserved', which is not among the stages of this node");
	});

	it('with Always Output Data: stops, since an empty item would leave by Advanced', async () => {
		const finished = await runLife(stage, [delivery()], [to('charged', { node: { alwaysOutputData: true } })]);
		expect(finished.error?.message).toBe("'Always Output Data' cannot be used with this node");
	});

	it('with On Error: Continue: stops, since the step would be done though nobody knows whether it is due', async () => {
		const id = newId();
		const node = { onError: 'continueRegularOutput' as const };
		const finished = await runLife(stage, [delivery({ id })], [to('charged', { node })]);
		expect(finished.error?.message).toBe("'On Error: Continue' cannot be used with Advance");
		expect(finished.received('Done')).toBe(0);
		expect((await rowOf(stage, id)).stage).toBeNull();
	});

	it('with an error output: what cannot be said leaves by that', async () => {
		const node = { onError: 'continueErrorOutput' as const };
		const finished = await runLife(stage, [delivery()], [eventNode('complete'), to('charged', { node })]);
		expect(finished.error).toBeUndefined();
		expect(finished.outputs('To charged')!.map((items) => items.length)).toEqual([0, 0, 1]);
	});
});

describe('settings of n8n', () => {
	it('Execute Once would leave events unfinished: stops', async () => {
		const ids = [newId(), newId()];
		const finished = await runLife(stage, ids.map((id) => delivery({ id })), [eventNode('complete', { node: { executeOnce: true } })]);
		expect(finished.error?.message).toContain("'Execute Once' would drop 1 of 2 events");
		expect((await rowOf(stage, ids[0]!)).state).toBe('processing');
	});

	it('a mistake in one item stops before anything is changed, and under On Error: Continue only that item', async () => {
		const ids = [newId(), newId()];
		const parameters = { leaseMinutes: '={{ $itemIndex === 0 ? -1 : 60 }}' as never };
		const stopped = await runLife(stage, ids.map((id) => delivery({ id })), [eventNode('extendLease', { parameters })]);
		expect(stopped.error?.message).toContain("'Lease (Minutes)' must be between");
		expect((await rowOf(stage, ids[1]!)).leased_ms! / minute).toBeLessThan(16);
		const node = { onError: 'continueRegularOutput' as const };
		const items = [plain({}), ...stopped.outputs('Gate')![0]!.slice(1)];
		const continued = await runGate(stage, items, { nodes: [eventNode('extendLease', { parameters, node })], wires: [['Start', 'ExtendLease']] });
		expect(continued.outputs('ExtendLease')![0]!.map((item) => details(item)['outcome'])).toEqual(['rejected', 'extended']);
	});
});
