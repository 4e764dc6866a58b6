/** What anybody may ask about an event: Get, Get Many, Reopen, Resolve. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Finished } from './engine';
import { eventNode, handle, type Link, rowOf, runLife } from './life';
import { delivery, details, freshWorkflow, openStage, plain, routes, runGate, type Stage } from './stage';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

const newId = () => `evt_${randomUUID()}`;
type Settings = Parameters<typeof eventNode>[1];

/** A workflow of an operator: one operation on one event, by its id. */
async function operate(workflowId: string, id: string, operation: string, { parameters, ...settings }: NonNullable<Settings> = {}, chain: ReadonlyArray<ReturnType<typeof eventNode>> = []) {
	const node = eventNode(operation, { name: 'Operate', parameters: { event: 'eventId', eventId: id, scope: 'otherWorkflow', workflowId, ...parameters }, ...settings });
	const names = ['Start', 'Operate', ...chain.map(({ name }) => name)];
	const finished = await runGate(stage, [plain({ asked: true })], {
		nodes: [node, ...chain],
		wires: names.slice(1).map((name, at) => [names[at]!, name] as const),
		mode: 'manual',
	});
	return { finished, item: finished.outputs('Operate')?.[0]?.[0], error: finished.error };
}

describe('Get', () => {
	it('tells everything but the owner\'s token', async () => {
		const id = newId();
		const workflowId = freshWorkflow();
		const options = { result: '{ "chargeId": "ch_1" }' };
		await runLife(stage, [delivery({ id, type: 'invoice.paid' })], [eventNode('complete', { options })], { workflowId, executionId: '6001' });
		const { item } = await operate(workflowId, id, 'get');
		expect(item!.json['asked']).toBe(true);
		expect(details(item)).toMatchObject({
			...{ outcome: 'found', status: 'completed', eventId: id, provider: 'stripe', scope: `workflow:${workflowId}` },
			...{ eventType: 'invoice.paid', attempt: 1, executionId: '6001', result: { chargeId: 'ch_1' }, lastError: null },
		});
		const { firstSeenAt, completedAt, idempotencyKey } = details(item);
		for (const time of [firstSeenAt, completedAt]) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
		expect(idempotencyKey).toMatch(/^n8n-[0-9a-f]{40}$/);
		const { rows } = await stage.database.query<{ owner: string }>("SELECT replace(owner::text, '-', '') AS owner FROM n8n_idempotency_claims WHERE event_id = $1", [id]);
		expect(JSON.stringify(item)).not.toContain(rows[0]!.owner);
		expect(JSON.stringify(item)).not.toContain('claimToken');
	});

	it('of a duplicate, with nothing to type', async () => {
		const setup = { workflowId: freshWorkflow() };
		const item = delivery();
		await runLife(stage, [item], [], setup);
		const again = await runGate(stage, [item], { ...setup, options: { unfinishedEvents: 'takeOver' }, nodes: [eventNode('get')], wires: [['Start', 'Gate'], ['Gate', 'Get', 1]] });
		expect(details(again.outputs('Get')![0]![0])).toMatchObject({ outcome: 'found', status: 'processing' });
	});

	it('of an event that is not there: says so, and nothing is wrong', async () => {
		const { item, error } = await operate('Wf-none', 'evt_none', 'get');
		expect(error).toBeUndefined();
		expect(details(item)).toMatchObject({ outcome: 'not_found', status: null, eventId: 'evt_none' });
	});
});

describe('Get Many', () => {
	const list = async (scopeText: string, filters: object = {}, parameters: object = {}, node: object = {}) => {
		const many = eventNode('getMany', { parameters: { ...parameters, filters: { scopeText, ...filters } } as never, node });
		return await runGate(stage, [plain({})], { nodes: [many], wires: [['Start', 'GetMany']] });
	};
	const ids = (finished: Awaited<ReturnType<typeof list>>) => finished.outputs('GetMany')![0]!.map((item) => details(item)['eventId']);

	it('newest first, by state, type and time, one item each', async () => {
		const workflowId = freshWorkflow();
		const [first, second, third] = [newId(), newId(), newId()];
		await runLife(stage, [delivery({ id: first, type: 'invoice.paid' })], [eventNode('complete')], { workflowId });
		const between = new Date().toISOString();
		await runLife(stage, [delivery({ id: second, type: 'invoice.voided' })], [eventNode('fail')], { workflowId });
		await runLife(stage, [delivery({ id: third, type: 'invoice.paid' })], [], { workflowId });
		const scope = `workflow:${workflowId}`;
		expect(ids(await list(scope))).toEqual([third, second, first]);
		expect(ids(await list(scope, {}, { limit: 2 }))).toEqual([third, second]);
		expect(ids(await list(scope, {}, { returnAll: true }))).toHaveLength(3);
		expect(ids(await list(scope, { states: ['failed', 'completed'] }))).toEqual([second, first]);
		expect(ids(await list(scope, { eventType: 'invoice.paid' }))).toEqual([third, first]);
		expect(ids(await list(scope, { firstSeenAfter: between }))).toEqual([third, second]);
		expect(ids(await list(scope, { firstSeenBefore: between }))).toEqual([first]);
		expect(ids(await list(scope, { provider: 'github' }))).toEqual([]);
		const [item] = (await list(scope)).outputs('GetMany')![0]!;
		expect(JSON.stringify(item)).not.toMatch(/claimToken|owner/);
		expect(details(item)).toMatchObject({ status: 'processing', leaseUntil: expect.stringMatching(/Z$/) });
	});

	it('refuses a time that is none', async () => {
		expect((await list('x', { firstSeenAfter: 'yesterday' })).error?.message).toBe("'First Seen After' is not a date");
	});
});

describe('Reopen', () => {
	const reason = 'The customer was charged on paper';
	const finish = async (workflowId: string, id: string, chain: readonly Link[] = [eventNode('complete')], options = {}) => {
		await runLife(stage, [delivery({ id, type: 'invoice.paid' })], chain, { workflowId, options });
	};

	it('has the event handled once more: what follows owns it, with the delivery that was saved', async () => {
		const id = newId();
		const workflowId = freshWorkflow();
		await finish(workflowId, id, [eventNode('complete')], { savePayload: 'always' });
		const { finished, item, error } = await operate(workflowId, id, 'reopen', { parameters: { reason } }, [eventNode('complete')]);
		expect(error).toBeUndefined();
		expect(item!.json).toMatchObject({ asked: true, claimed: true, body: { id, type: 'invoice.paid' }, headers: { 'content-type': 'application/json' } });
		expect(Buffer.from(item!.binary!['data']!.data, 'base64').toString()).toContain(`"${id}"`);
		expect(details(item)).toMatchObject({
			...{ outcome: 'reopened', status: 'processing', eventId: id, eventType: 'invoice.paid', payloadSaved: true, lastError: reason },
			claimToken: expect.any(String),
		});
		expect(JSON.stringify(item!.json['headers'])).not.toContain('stripe-signature');
		expect(details(finished.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'completed', verdict: 'settled' });
		expect((await rowOf(stage, id)).state).toBe('completed');
	});

	it('without a saved delivery the item stays what it was', async () => {
		const id = newId();
		const workflowId = freshWorkflow();
		await finish(workflowId, id);
		const { item } = await operate(workflowId, id, 'reopen', { parameters: { reason } });
		expect(item!.json).toMatchObject({ asked: true, claimed: true });
		expect(item!.json).not.toHaveProperty('body');
		expect(details(item)['payloadSaved']).toBe(false);
	});

	it('makes the earlier owner a stranger', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		const meanwhile: Link = {
			name: 'Slow',
			act: async () => {
				await operate(setup.workflowId, id, 'reopen', { parameters: { reason } });
			},
		};
		const finished = await runLife(stage, [delivery({ id })], [eventNode('markUncertain'), meanwhile, eventNode('complete')], setup);
		expect(finished.error?.message).toBe('The event is no longer held by this execution');
	});

	it('wants a reason', async () => {
		const { error } = await operate('Wf', 'evt', 'reopen', { parameters: { reason: '={{ " " }}' } });
		expect(error?.message).toBe("'Reason' is empty");
	});

	it('leaves alone what has not ended, and what is not there', async () => {
		const id = newId();
		const workflowId = freshWorkflow();
		await finish(workflowId, id, []);
		expect((await operate(workflowId, id, 'reopen', { parameters: { reason } })).error?.message).toBe('The event has not ended: it is processing');
		expect((await operate(workflowId, 'evt_none', 'reopen', { parameters: { reason } })).error?.message).toContain("There is no event 'evt_none'");
		expect(await rowOf(stage, id)).toMatchObject({ state: 'processing', attempt: 1 });
	});

	it('under On Error: Continue the item says that it is not claimed', async () => {
		const id = newId();
		const workflowId = freshWorkflow();
		await finish(workflowId, id, []);
		const node = { onError: 'continueRegularOutput' as const };
		const { item } = await operate(workflowId, id, 'reopen', { parameters: { reason }, node });
		expect(item!.json['claimed']).toBe(false);
		expect(details(item)).toMatchObject({ outcome: 'not_finished', reason: 'not_finished', status: 'processing' });
	});

	describe('of several events', () => {
		const several = async (workflowId: string, ids: readonly string[]) => {
			const node = eventNode('reopen', { parameters: { event: 'eventId', eventId: '={{ $json.id }}', reason } });
			return await runGate(stage, ids.map((id) => ({ json: { id, claimed: true } })), {
				...{ workflowId, nodes: [node, eventNode('complete')], wires: [['Start', 'Reopen'], ['Reopen', 'Complete']] as const },
			});
		};
		const said = (finished: Finished) => finished.outputs('Reopen')![0]!.map((item) => [item.json['claimed'], details(item)['outcome'], details(item)['reason']]);

		it('one that cannot be does not take the others down with it', async () => {
			const id = newId();
			const workflowId = freshWorkflow();
			await finish(workflowId, id);
			const finished = await several(workflowId, [id, 'evt_none']);
			expect(finished.error).toBeUndefined();
			expect(said(finished)).toEqual([[true, 'reopened', undefined], [false, 'not_found', 'event_not_found']]);
			expect(finished.hints.map(({ message }) => message).join()).toContain("There is no event 'evt_none'");
			expect(finished.outputs('Complete')![0]!.map((item) => details(item)['outcome'])).toEqual(['completed', 'not_claimed']);
			expect(await rowOf(stage, id)).toMatchObject({ state: 'completed', attempt: 2 });
		});

		it('none of which can be: stops', async () => {
			expect((await several(freshWorkflow(), ['evt_none', 'evt_nor'])).error?.message).toContain("There is no event 'evt_none'");
		});

		it('one that several items name is handed out once', async () => {
			const id = newId();
			const workflowId = freshWorkflow();
			await finish(workflowId, id);
			const finished = await several(workflowId, [id, id]);
			expect(finished.error).toBeUndefined();
			expect(said(finished)).toEqual([[true, 'reopened', undefined], [false, 'in_progress', undefined]]);
			expect(await rowOf(stage, id)).toMatchObject({ state: 'completed', attempt: 2 });
		});
	});

	it('takes the event of the item, as a list gives it', async () => {
		const id = newId();
		const workflowId = freshWorkflow();
		await finish(workflowId, id);
		const many = eventNode('getMany', { parameters: { filters: { scopeText: `workflow:${workflowId}` } } as never });
		const finished = await runGate(stage, [plain({})], {
			nodes: [many, eventNode('reopen', { parameters: { reason } })],
			wires: [['Start', 'GetMany'], ['GetMany', 'Reopen']],
		});
		expect(details(finished.outputs('Reopen')![0]![0])).toMatchObject({ outcome: 'reopened', eventId: id });
	});
});

describe('Resolve', () => {
	const reason = 'The bank says that it went through';
	const uncertain = async () => {
		const id = newId();
		const workflowId = freshWorkflow();
		await runLife(stage, [delivery({ id })], [handle, eventNode('markUncertain')], { workflowId });
		return { id, workflowId };
	};

	it.each(['completed', 'dead', 'failed'])('to %s', async (resolution) => {
		const { id, workflowId } = await uncertain();
		const { item, error } = await operate(workflowId, id, 'resolve', { parameters: { resolution, reason } });
		expect(error).toBeUndefined();
		expect(details(item)).toMatchObject({ outcome: 'resolved', status: resolution, eventId: id });
		expect(await rowOf(stage, id)).toMatchObject({ state: resolution, error: reason });
		const again = await operate(workflowId, id, 'resolve', { parameters: { resolution, reason } });
		expect(details(again.item)['message']).toBe(`The event had been resolved to ${resolution} before`);
	});

	it('to be tried again: the next delivery has it', async () => {
		const { id, workflowId } = await uncertain();
		await operate(workflowId, id, 'resolve', { parameters: { resolution: 'failed', reason } });
		expect(routes(await runLife(stage, [delivery({ id })], [], { workflowId }))).toEqual([['retried'], [], []]);
	});

	it('of the record that was looked at, and no other', async () => {
		const { id, workflowId } = await uncertain();
		const looked = details((await operate(workflowId, id, 'get')).item);
		const other = await operate(workflowId, id, 'resolve', { parameters: { reason }, options: { fence: '1' } });
		expect(other.error?.message).toContain('The event has changed since');
		const none = await operate(workflowId, id, 'resolve', { parameters: { reason }, options: { fence: 'x' } });
		expect(none.error?.message).toBe("'Fence' is not the fence of a claim");
		const same = await operate(workflowId, id, 'resolve', { parameters: { reason }, options: { fence: looked['fence'] as string } });
		expect(details(same.item)['outcome']).toBe('resolved');
	});

	it('of an event that is not uncertain: says what it is', async () => {
		const id = newId();
		const workflowId = freshWorkflow();
		await runLife(stage, [delivery({ id })], [], { workflowId });
		const { error } = await operate(workflowId, id, 'resolve', { parameters: { reason } });
		expect(error?.message).toBe('The outcome of the event is not uncertain: it is processing');
	});
});
