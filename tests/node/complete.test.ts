/** The end of a claim by its owner: Complete, and what becomes of those who are not the owner any more. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endLease, eventNode, handle, type Link, rowOf, runLife } from './life';
import { delivery, details, freshWorkflow, openStage, routes, runGate, type Stage } from './stage';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

const complete = (settings: Parameters<typeof eventNode>[1] = {}) => eventNode('complete', settings);
const newId = () => `evt_${randomUUID()}`;

describe('Complete', () => {
	it('ends the claim of the gate before it, though the item has been replaced on the way', async () => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [handle, complete()]);
		expect(finished.error).toBeUndefined();
		const [item] = finished.outputs('Complete')![0]!;
		expect(item!.json).toMatchObject({ charged: true, idempotency: { outcome: 'completed', status: 'completed', eventId: id, verdict: 'settled' } });
		expect(details(item)['idempotencyKey']).toBe(details(finished.outputs('Gate')![0]![0])['idempotencyKey']);
		expect(await rowOf(stage, id)).toMatchObject({ state: 'completed', error: null, result: null });
		expect(finished.received('Done')).toBe(1);
	});

	it('merges its answer into the details that are still in the item', async () => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id, type: 'invoice.paid' })], [complete()]);
		const [item] = finished.outputs('Complete')![0]!;
		expect(item!.json).toMatchObject({ claimed: true, body: { id } });
		expect(details(item)).toMatchObject({ eventType: 'invoice.paid', attempt: 1, outcome: 'completed', status: 'completed', leaseUntil: null });
	});

	it('ends every item\'s own claim', async () => {
		const ids = [newId(), newId(), newId()];
		const finished = await runLife(stage, ids.map((id) => delivery({ id })), [handle, complete()]);
		expect(finished.outputs('Complete')![0]!.map((item) => details(item)['eventId'])).toEqual(ids);
		expect(await Promise.all(ids.map(async (id) => (await rowOf(stage, id)).state))).toEqual(['completed', 'completed', 'completed']);
	});

	it('ends one claim once, however many items have come of it', async () => {
		const id = newId();
		const split: Link = { name: 'Lines', act: async () => [1, 2, 3].map((line) => ({ json: { line }, pairedItem: { item: 0 } })) };
		const finished = await runLife(stage, [delivery({ id })], [split, complete()]);
		expect(finished.outputs('Complete')![0]!.map((item) => [item.json['line'], details(item)['verdict']])).toEqual([
			[1, 'settled'],
			[2, 'settled'],
			[3, 'settled'],
		]);
	});

	describe('messages of several items of one event', () => {
		const withMessages = (...messages: object[]) => complete({ options: { outboxMessage: { messages } } as never });
		const stored = async (scope: string) => {
			const { rows } = await stage.database.query<{ key: string; body: string }>('SELECT message_key AS key, body FROM n8n_idempotency_outbox WHERE scope = $1 ORDER BY id', [scope]);
			return rows.map(({ key, body }) => [key.replace(/^n8n-[0-9a-f]{40}/, 'n8n'), body]);
		};
		const split: Link = { name: 'Lines', act: async () => ['a', 'b', 'c'].map((line) => ({ json: { line }, pairedItem: { item: 0 } })) };
		const body = '={{ JSON.stringify($json.line) }}';

		it('are all stored, numbered over all of them', async () => {
			const workflowId = freshWorkflow();
			const node = withMessages({ topic: 'mail', body }, { topic: 'label', body, messageKey: '={{ $json.line }}' });
			const finished = await runLife(stage, [delivery()], [split, node], { workflowId });
			expect(finished.error).toBeUndefined();
			expect(await stored(`workflow:${workflowId}`)).toEqual([
				...[['n8n-mail', '"a"'], ['a', '"a"']],
				...[['n8n#2-mail', '"b"'], ['b', '"b"']],
				...[['n8n#3-mail', '"c"'], ['c', '"c"']],
			]);
		});

		it('that are the same are one', async () => {
			const workflowId = freshWorkflow();
			await runLife(stage, [delivery()], [split, withMessages({ topic: 'mail', body: '{}' })], { workflowId });
			expect(await stored(`workflow:${workflowId}`)).toEqual([['n8n-mail', '{}']]);
		});

		it('of an event that had been completed before are stored too, each key once, which is said', async () => {
			const workflowId = freshWorkflow();
			const again = { ...withMessages({ topic: 'mail', body: '2' }, { topic: 'label', body: '2' }), name: 'Again' };
			const finished = await runLife(stage, [delivery()], [withMessages({ topic: 'mail', body: '1' }), again], { workflowId });
			expect(await stored(`workflow:${workflowId}`)).toEqual([['n8n-mail', '1'], ['n8n-label', '2']]);
			expect(finished.hints.map(({ message }) => message).join()).toContain('whose key was there already is not stored again');
		});
	});

	it('done before is as good as done', async () => {
		const finished = await runLife(stage, [delivery()], [complete(), complete({ name: 'Again' })]);
		expect(finished.error).toBeUndefined();
		expect(details(finished.outputs('Again')![0]![0])).toMatchObject({ outcome: 'completed', verdict: 'already' });
	});

	it('keeps a result, and later duplicates carry it', async () => {
		const setup = { workflowId: freshWorkflow() };
		const item = delivery();
		const options = { result: '={{ { chargeId: "ch_1", amount: 4200 } }}' };
		await runLife(stage, [item], [handle, complete({ options })], setup);
		const again = await runLife(stage, [item], [handle, complete()], setup);
		expect(routes(again)).toEqual([[], ['completed'], []]);
		expect(details(again.outputs('Gate')![1]![0])['result']).toEqual({ chargeId: 'ch_1', amount: 4200 });
	});

	it.each<[what: string, result: string, message: string]>([
		['is no JSON', '{ chargeId: }', "'Result' could not be read"],
		['is not small', `={{ 'x'.repeat(20000) }}`, "'Result' could not be read"],
	])('refuses a result that %s, and changes nothing', async (_, result, message) => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [complete({ options: { result } })]);
		expect(finished.error?.message).toContain(message);
		expect((await rowOf(stage, id)).state).toBe('processing');
	});

	it('does without a result that is too large: the work is done', async () => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [complete({ options: { result: "={{ { text: 'x'.repeat(20000) } }}" } })]);
		expect(finished.error).toBeUndefined();
		expect(details(finished.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'completed', resultStored: false });
		expect(finished.hints.map(({ message }) => message).join()).toContain("'Result' has 20011 bytes and is not kept: at most 16384 are");
		expect(await rowOf(stage, id)).toMatchObject({ state: 'completed', result: null });
	});

	it('says that the lease was over, where nobody had taken over', async () => {
		const id = newId();
		const slow: Link = { name: 'Slow', act: async () => await endLease(stage, id) };
		const finished = await runLife(stage, [delivery({ id })], [slow, complete()]);
		expect(finished.error).toBeUndefined();
		expect(details(finished.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'completed', verdict: 'late' });
		expect(finished.hints.map(({ message }) => message).join()).toContain('The lease of the event was over before it was completed');
	});
});

describe('an execution that has lost its claim', () => {
	/** The lease ends, and a redelivery takes the event over while the first execution is still at it. */
	function overtaken(id: string, setup: { workflowId: string }): Link {
		return {
			name: 'Slow',
			act: async () => {
				await endLease(stage, id);
				const other = await runGate(stage, [delivery({ id })], { ...setup, executionId: '77001', options: { unfinishedEvents: 'takeOver' } });
				expect(routes(other)).toEqual([['taken_over'], [], []]);
			},
		};
	}

	it('is stopped, and told who has it', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		const finished = await runLife(stage, [delivery({ id })], [overtaken(id, setup), complete()], setup);
		expect(finished.error?.message).toBe('The event is no longer held by this execution');
		expect(finished.error?.description).toMatch(/execution 77001 took it over at \d{4}-.*; it is processing now\. Raise 'Lease \(Minutes\)'/);
		expect(finished.received('Done')).toBe(0);
		expect(await rowOf(stage, id)).toMatchObject({ state: 'processing', attempt: 2 });
	});

	it('under On Error: Continue it is told in the item', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		const node = { onError: 'continueRegularOutput' as const };
		const finished = await runLife(stage, [delivery({ id })], [overtaken(id, setup), complete({ node })], setup);
		expect(finished.error).toBeUndefined();
		expect(details(finished.outputs('Complete')![0]![0])).toMatchObject({
			outcome: 'fenced_out',
			reason: 'lease_taken_over',
			status: 'processing',
			message: 'The event is no longer held by this execution',
		});
		expect((await rowOf(stage, id)).state).toBe('processing');
	});

	it('with an error output it is told there, and those that hold theirs go on', async () => {
		const [lost, held] = [newId(), newId()];
		const setup = { workflowId: freshWorkflow() };
		const node = { onError: 'continueErrorOutput' as const };
		const finished = await runLife(stage, [delivery({ id: lost }), delivery({ id: held })], [overtaken(lost, setup), complete({ node })], {
			...setup,
			nodes: [{ name: 'Lost' }],
			wires: [['Complete', 'Lost', 1]],
		});
		expect(finished.error).toBeUndefined();
		const [regular, failed] = finished.outputs('Complete')!;
		expect(regular!.map((item) => details(item)['eventId'])).toEqual([held]);
		expect(failed!).toHaveLength(1);
		expect(JSON.stringify(failed![0]!.json)).toContain('lease_taken_over');
		expect([finished.received('Done'), finished.received('Lost')]).toEqual([1, 1]);
		expect((await rowOf(stage, held)).state).toBe('completed');
	});

	it('that ended it otherwise itself is told so', async () => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [eventNode('markUncertain'), complete()]);
		expect(finished.error?.message).toBe('The event is not in progress any more');
		expect(finished.error?.description).toContain('It is uncertain already');
	});
});

describe('an event that nobody claimed', () => {
	it('a duplicate that a test lets through: nothing is changed, and nothing is wrong', async () => {
		const setup = { workflowId: freshWorkflow(), mode: 'manual' as const };
		const item = delivery();
		await runLife(stage, [item], [complete()], setup);
		const again = await runLife(stage, [item], [handle, complete()], setup);
		expect(again.error).toBeUndefined();
		const [out] = again.outputs('Complete')![0]!;
		expect(out!.json['charged']).toBe(true);
		expect(details(out)).toMatchObject({ outcome: 'not_claimed' });
		expect(again.received('Done')).toBe(1);
	});

	it('a duplicate on its own branch: the same', async () => {
		const setup = { workflowId: freshWorkflow() };
		const item = delivery();
		await runLife(stage, [item], [complete()], setup);
		const again = await runGate(stage, [item], { ...setup, nodes: [complete()], wires: [['Start', 'Gate'], ['Gate', 'Complete', 1]] });
		expect(details(again.outputs('Complete')![0]![0])['outcome']).toBe('not_claimed');
	});
});

describe('"Retry" of an execution that failed behind the gate', () => {
	it('completes an event that was marked as failed meanwhile', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		let broken = true;
		const charge: Link = {
			name: 'Charge',
			act: async () => {
				if (broken) throw new Error('The bank did not answer');
			},
		};
		const chain = [charge, complete()];
		const failed = await runLife(stage, [delivery({ id })], chain, setup);
		expect(failed.error?.message).toBe('The bank did not answer');
		const { run } = failed;
		const executionId = String((await rowOf(stage, id)).execution_id).split('@')[0];
		const error = { json: { execution: { id: executionId, error: { message: 'The bank did not answer' } }, workflow: { id: setup.workflowId } } };
		await runGate(stage, [error], {
			nodes: [eventNode('fail', { parameters: { event: 'executionId' } })],
			wires: [['Start', 'Fail']],
		});
		expect((await rowOf(stage, id)).state).toBe('failed');

		broken = false;
		const data = structuredClone(run.data);
		delete data.resultData.error;
		data.resultData.runData['Charge']?.pop();
		const retried = await runLife(stage, [], chain, { ...setup, mode: 'retry', resume: data });
		expect(retried.error).toBeUndefined();
		expect(details(retried.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'completed', verdict: 'settled' });
		expect(await rowOf(stage, id)).toMatchObject({ state: 'completed', attempt: 1 });
	});
});
