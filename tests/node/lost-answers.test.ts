/** Retry On Fail of every operation that changes a claim, after the answer to its statement was lost. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventNode, handle, rowOf, runLife, type Link } from './life';
import { lossyProxy, type LossyProxy } from './lossy-proxy';
import { delivery, details, freshWorkflow, openStage, plain, runGate, type Setup, type Stage } from './stage';

let stage: Stage;
let proxy: LossyProxy;
let credentials: NonNullable<Setup['credentials']>;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());
beforeEach(async () => {
	proxy = await lossyProxy(stage.postgres);
	credentials = { Postgres: { ...stage.postgres, port: proxy.port } };
});
afterEach(() => proxy.close());

const newId = () => `evt_${randomUUID()}`;
const retryOnFail = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
/** Every statement that changes a claim. */
const change = /UPDATE/;
/** The one that completes a claim whose delivery was saved. */
const completion = /DELETE FROM/;

/** Loses the answers to the first try of the node, and counts its tries. */
function losing(name: string, statement = change) {
	const tries: number[] = [];
	const onTry: Setup['onTry'] = (number, node) => {
		if (node !== name) return;
		tries.push(number);
		if (number === 1) proxy.lose(statement);
		else proxy.heal();
	};
	return { onTry, tries };
}

/** The gate's own claim comes through; the operation's first answer does not. */
async function runLosing(id: string, chain: readonly Link[], name: string, statement = change) {
	const { onTry, tries } = losing(name, statement);
	const options = { savePayload: statement === change ? 'never' : 'untilCompleted' };
	const finished = await runLife(stage, [delivery({ id })], chain, { options, credentials, onTry });
	expect(proxy.lost, 'an answer was lost').toBeGreaterThan(0);
	expect(tries).toEqual([1, 2]);
	expect(finished.error).toBeUndefined();
	return finished;
}

describe('the second try', () => {
	it.each<[operation: string, parameters: object, outcome: string, state: string]>([
		['complete', {}, 'completed', 'completed'],
		['fail', {}, 'failed', 'failed'],
		['fail', { retry: false }, 'dead', 'dead'],
		['markUncertain', {}, 'uncertain', 'uncertain'],
		['extendLease', { leaseMinutes: 60 }, 'extended', 'processing'],
	])('of %s %o finds its work done: %s', async (operation, parameters, outcome, state) => {
		const id = newId();
		const node = eventNode(operation, { name: 'Operate', parameters: parameters as never, node: retryOnFail });
		const finished = await runLosing(id, [handle, node], 'Operate');
		expect(finished.outputs('Operate')![0]!.map((item) => details(item)['outcome'])).toEqual([outcome]);
		expect(await rowOf(stage, id)).toMatchObject({ state, attempt: 1 });
	});

	it('of Complete finds its work done, where a saved delivery went with it', async () => {
		const id = newId();
		const finished = await runLosing(id, [handle, eventNode('complete', { node: retryOnFail })], 'Complete', completion);
		expect(details(finished.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'completed', verdict: 'already' });
	});

	it('of Advance is told that the step is due: it was this run that advanced the event', async () => {
		const id = newId();
		const node = eventNode('advance', { parameters: { stages: 'charged, fulfilled', stage: 'charged' }, node: retryOnFail });
		const finished = await runLosing(id, [handle, node], 'Advance');
		expect(finished.outputs('Advance')!.map((items) => items.map((item) => details(item)['outcome']))).toEqual([['advanced'], []]);
		expect((await rowOf(stage, id)).stage).toBe('charged');
	});

	it('of Advance in an event that was there before is told so', async () => {
		const id = newId();
		const advance = (name: string, node = {}) => eventNode('advance', { name, parameters: { stages: 'charged, fulfilled', stage: 'charged' }, node });
		const finished = await runLosing(id, [advance('First'), advance('Second', retryOnFail)], 'Second');
		expect(finished.outputs('Second')!.map((items) => items.map((item) => details(item)['outcome']))).toEqual([[], ['already_there']]);
	});

	it('of Reopen owns the event, with the same fence', async () => {
		const id = newId();
		const workflowId = freshWorkflow();
		await runLife(stage, [delivery({ id })], [eventNode('complete')], { workflowId });
		const { onTry, tries } = losing('Reopen');
		const parameters = { event: 'eventId', eventId: id, reason: 'Charged on paper' };
		const finished = await runGate(stage, [plain({})], {
			...{ workflowId, credentials, onTry },
			nodes: [eventNode('reopen', { parameters, node: retryOnFail }), eventNode('complete')],
			wires: [['Start', 'Reopen'], ['Reopen', 'Complete']],
		});
		expect(proxy.lost).toBeGreaterThan(0);
		expect(tries).toEqual([1, 2]);
		expect(details(finished.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'completed', verdict: 'settled' });
		expect(await rowOf(stage, id)).toMatchObject({ state: 'completed', attempt: 2 });
	});

	it('of Resolve finds its work done', async () => {
		const id = newId();
		const workflowId = freshWorkflow();
		await runLife(stage, [delivery({ id })], [eventNode('markUncertain')], { workflowId });
		const { onTry, tries } = losing('Resolve');
		const parameters = { event: 'eventId', eventId: id, reason: 'The bank says so' };
		const finished = await runGate(stage, [plain({})], {
			...{ workflowId, credentials, onTry },
			nodes: [eventNode('resolve', { parameters, node: retryOnFail })],
			wires: [['Start', 'Resolve']],
		});
		expect(tries).toEqual([1, 2]);
		expect(details(finished.outputs('Resolve')![0]![0])).toMatchObject({ outcome: 'resolved', status: 'completed' });
	});
});

describe('without Retry On Fail', () => {
	it('Advance asks again by itself where one answer was lost, and the step is due', async () => {
		const id = newId();
		const node = eventNode('advance', { parameters: { stages: 'charged, fulfilled', stage: 'charged' } });
		const onTry: Setup['onTry'] = (_, name) => {
			if (name === 'Advance') proxy.lose(change, 1);
		};
		const finished = await runLife(stage, [delivery({ id })], [handle, node], { credentials, onTry });
		expect(finished.error).toBeUndefined();
		expect(proxy.lost).toBe(1);
		expect(finished.outputs('Advance')!.map((items) => items.map((item) => details(item)['outcome']))).toEqual([['advanced'], []]);
	});

	it('the workflow stops and says that nothing is known, and nothing is done twice by trying again', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow(), options: { savePayload: 'never' } };
		const { onTry } = losing('Complete');
		const finished = await runLife(stage, [delivery({ id })], [handle, eventNode('complete')], { ...setup, credentials, onTry });
		expect(finished.error?.message).toBe('Could not reach the Postgres store: connection lost');
		expect(finished.received('Done')).toBe(0);

		proxy.heal();
		const data = structuredClone(finished.run.data);
		delete data.resultData.error;
		data.resultData.runData['Complete']?.pop();
		const retried = await runLife(stage, [], [handle, eventNode('complete')], { ...setup, credentials, mode: 'retry', resume: data });
		expect(details(retried.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'completed', verdict: 'already' });
	});

	it('On Error: Continue says in the item that nothing is known', async () => {
		const { onTry } = losing('Complete');
		const node = { onError: 'continueRegularOutput' as const };
		const finished = await runLife(stage, [delivery()], [handle, eventNode('complete', { node })], { credentials, onTry });
		expect(finished.error).toBeUndefined();
		const [item] = finished.outputs('Complete')![0]!;
		expect(details(item)).toMatchObject({ outcome: 'unavailable', reason: 'store_unavailable' });
		expect(JSON.stringify(item)).not.toContain('127.0.0.1');
	});
});
