/** Idempotency Gate Trigger: starts an execution when there is work, hands each piece out once, and shows without taking. */
import type { INode, INodeExecutionData, INodeType, Workflow } from 'n8n-workflow';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { build, engine, GATE, load } from './engine';
import { endLease, eventNode, runLife } from './life';
import { delivery, details, freshWorkflow, openStage, plain, runGate, type Stage } from './stage';

const trigger = load('dist/nodes/IdempotencyGateTrigger/IdempotencyGateTrigger.node.js', 'IdempotencyGateTrigger') as INodeType;

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

type TriggerOn = 'deadLetters' | 'outboxMessages' | 'unfinishedEvents';

/** A published workflow that begins with the trigger, as n8n keeps it between polls. */
function published(triggerOn: TriggerOn, parameters: object = {}, options: object = {}) {
	const node = {
		...{ name: 'Trigger', type: `${GATE}Trigger`, credentials: { postgres: { id: '1', name: 'Postgres' } } },
		parameters: { triggerOn, ...parameters, options: { scope: 'workflow', workflowId, ...options } } as never,
	};
	return build({ nodes: [node], wires: [], types: { [`${GATE}Trigger`]: trigger } });
}

/** One poll by n8n's own context. `null`: no execution begins. */
async function poll(workflow: Workflow, { mode = 'trigger', credentials = stage.postgres }: { mode?: string; credentials?: object } = {}): Promise<INodeExecutionData[] | null> {
	const additionalData = {
		credentialsHelper: {
			getDecrypted: async () => structuredClone(credentials),
			getParentTypes: () => [],
			isCredentialUsableByNode: () => true,
		},
	};
	const { PollContext } = engine.core as unknown as {
		PollContext: new (workflow: Workflow, node: INode, additionalData: unknown, mode: string, activation: string) => ThisParameterType<NonNullable<INodeType['poll']>>;
	};
	const context = new PollContext(workflow, workflow.getNode('Trigger')!, additionalData, mode, 'update');
	const outputs = await trigger.poll!.call(context);
	if (outputs !== null) expect(outputs).toHaveLength(1);
	return outputs?.[0] ?? null;
}

const events = (items: INodeExecutionData[] | null) => items?.map((item) => details(item)['eventId']) ?? null;

/** Claims, and the execution dies. */
async function abandon(eventId: string, options: object = {}): Promise<INodeExecutionData> {
	const item = delivery({ id: eventId });
	await runGate(stage, [item], { workflowId, options: { unfinishedEvents: 'takeOver', savePayload: 'untilCompleted', ...options } });
	await endLease(stage, eventId);
	return item;
}

describe('Stale or Failed Events', () => {
	it('starts an execution when there are some, with what the Webhook node gave', async () => {
		const workflow = published('unfinishedEvents');
		expect(await poll(workflow)).toBeNull();
		const original = await abandon(`evt_${workflowId}`);
		const [item, ...others] = (await poll(workflow))!;
		expect(others).toEqual([]);
		expect(item!.json).toMatchObject({ claimed: true, body: original.json['body'] });
		expect(item!.binary!['data']!.data).toBe(original.binary!['data']!.data);
		expect(details(item)).toMatchObject({ outcome: 'taken_over', attempt: 2, claimToken: expect.any(String) });
		expect(await poll(workflow)).toBeNull();
	});

	it('two polls at the same time share the work', async () => {
		const ids = Array.from({ length: 6 }, (_, n) => `evt_${workflowId}_${n}`);
		for (const id of ids) await abandon(id);
		const polls = await Promise.all([1, 2, 3].map(async () => await poll(published('unfinishedEvents', { limit: 2 }))));
		expect(polls.flatMap((items) => events(items) ?? []).sort()).toEqual(ids);
	});

	it('Complete finds the claim of its items', async () => {
		await abandon(`evt_${workflowId}`);
		const items = (await poll(published('unfinishedEvents')))!;
		const finished = await runLife(stage, items, [], { wires: [['Start', 'Complete']], nodes: [eventNode('complete')] });
		expect(details(finished.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'completed' });
	});

	it('what cannot be handed out starts nothing', async () => {
		await abandon(`evt_${workflowId}`, { maxAttempts: 1 });
		expect(await poll(published('unfinishedEvents'))).toBeNull();
		const { rows } = await stage.database.query('SELECT state FROM n8n_idempotency_claims WHERE event_id = $1', [`evt_${workflowId}`]);
		expect(rows).toEqual([{ state: 'd' }]);
	});

	it('tried by hand, shows one and leaves it where it is', async () => {
		const workflow = published('unfinishedEvents');
		await expect(poll(workflow, { mode: 'manual' })).rejects.toThrow('There are no stale or failed events to show');
		await abandon(`evt_${workflowId}_1`);
		await abandon(`evt_${workflowId}_2`);
		const shown = (await poll(workflow, { mode: 'manual' }))!;
		expect(events(shown)).toEqual([`evt_${workflowId}_1`]);
		expect(details(shown[0])).toMatchObject({ outcome: 'taken_over', attempt: 2 });
		expect(details(shown[0])).not.toHaveProperty('claimToken');
		expect(events(await poll(workflow))).toEqual([`evt_${workflowId}_1`, `evt_${workflowId}_2`]);
	});

	it('with only the kind and the provider that are asked for', async () => {
		await abandon(`evt_${workflowId}`);
		expect(await poll(published('unfinishedEvents', { which: 'failed' }))).toBeNull();
		expect(await poll(published('unfinishedEvents', { provider: 'github' }))).toBeNull();
		expect(await poll(published('unfinishedEvents', { which: 'stale', provider: 'stripe' }))).toHaveLength(1);
	});
});

describe('Dead Letters', () => {
	const die = async (eventId: string, operation: string, parameters: object = {}) => {
		await runLife(stage, [delivery({ id: eventId })], [eventNode(operation, { parameters: { reason: 'the bank says no', ...parameters } })], {
			workflowId,
			options: { savePayload: 'untilCompleted' },
		});
	};

	it('reports each event once, whichever way it died', async () => {
		const workflow = published('deadLetters');
		expect(await poll(workflow)).toBeNull();
		const [gone, unsure, held] = ['gone', 'unsure', 'held'].map((name) => `evt_${workflowId}_${name}`) as [string, string, string];
		await die(gone, 'fail', { retry: false });
		await die(unsure, 'markUncertain');
		await abandon(held, { unfinishedEvents: 'hold' });
		expect(await poll(published('unfinishedEvents'))).toBeNull();

		const items = (await poll(workflow))!;
		expect(items.map((item) => [details(item)['eventId'], details(item)['status']])).toEqual([[gone, 'dead'], [unsure, 'uncertain'], [held, 'uncertain']]);
		expect(items[0]!.json).toMatchObject({ claimed: false, body: { id: gone } });
		expect(details(items[0])).toMatchObject({ needsAttention: true, lastError: 'the bank says no' });
		expect(details(items[0])).not.toHaveProperty('claimToken');
		expect(items[0]!.binary).toBeUndefined();
		expect(await poll(workflow)).toBeNull();
		expect(await poll(published('deadLetters')), 'another workflow is told as well').toHaveLength(3);
	});

	it('comes once more if n8n dies before it has kept the position', async () => {
		const workflow = published('deadLetters');
		await die(`evt_${workflowId}`, 'fail', { retry: false });
		const before = JSON.parse(JSON.stringify(workflow.staticData)) as typeof workflow.staticData;
		expect(await poll(workflow)).toHaveLength(1);
		const restarted = published('deadLetters');
		restarted.staticData = before;
		expect(await poll(restarted)).toHaveLength(1);
	});

	it('comes once more if n8n dies while it is telling somebody', async () => {
		const workflow = published('deadLetters');
		await die(`evt_${workflowId}`, 'fail', { retry: false });
		expect(await poll(workflow)).toHaveLength(1);
		expect(await poll(workflow)).toBeNull();
		const [node] = Object.values(workflow.staticData) as Array<{ process?: string }>;
		node!.process = 'one that is gone';
		expect(await poll(workflow)).toHaveLength(1);
		expect(await poll(workflow)).toBeNull();
	});

	it('goes past the letters of others, and takes as many as asked', async () => {
		const mine = [1, 2, 3].map((n) => `evt_${workflowId}_${n}`);
		for (const id of mine) await die(id, 'fail', { retry: false });
		const workflow = published('deadLetters', { limit: 2 });
		const polls: unknown[][] = [];
		for (let items = await poll(workflow); items !== null; items = await poll(workflow)) polls.push(events(items)!);
		expect(polls.flat()).toEqual(mine);
		expect(polls.every(({ length }) => length <= 2)).toBe(true);
	});

	it('tried by hand, shows the newest and keeps no position', async () => {
		const workflow = published('deadLetters');
		await expect(poll(workflow, { mode: 'manual' })).rejects.toThrow('There are no dead letters to show');
		for (const n of [1, 2]) await die(`evt_${workflowId}_${n}`, 'fail', { retry: false });
		expect(events(await poll(workflow, { mode: 'manual' }))).toEqual([`evt_${workflowId}_2`]);
		expect(await poll(workflow)).toHaveLength(2);
	});
});

describe('Outbox Messages', () => {
	const add = async (topic: string, bodies: object[]) => {
		const node = { ...eventNode('addMessage', { parameters: { resource: 'outbox', topic, body: '={{ $json }}' }, options: { messageKey: '={{ $json.key }}' } }), name: 'Add' };
		const finished = await runGate(stage, bodies.map((body) => plain(body as never)), { workflowId, nodes: [node], wires: [['Start', 'Add']] });
		expect(finished.error).toBeUndefined();
	};

	it('hands a message out with a lease, and Mark Sent ends it', async () => {
		await add('receipt', [{ key: `${workflowId}-1`, amount: 5 }]);
		const workflow = published('outboxMessages', { topic: 'receipt' });
		expect(await poll(published('outboxMessages', { topic: 'other' }))).toBeNull();
		const items = (await poll(workflow))!;
		expect(items[0]!.json).toMatchObject({ topic: 'receipt', messageKey: `${workflowId}-1`, body: { amount: 5 }, outbox: { attempt: 1, messageToken: expect.any(String) } });
		expect(await poll(workflow)).toBeNull();
		const sent = { ...eventNode('markSent', { parameters: { resource: 'outbox' } }), name: 'Sent' };
		const finished = await runGate(stage, items, { nodes: [sent], wires: [['Start', 'Sent']] });
		expect(details(finished.outputs('Sent')![0]![0], 'outbox')).toMatchObject({ outcome: 'sent' });
	});

	it('tried by hand, shows one and leaves it where it is', async () => {
		const workflow = published('outboxMessages');
		await expect(poll(workflow, { mode: 'manual' })).rejects.toThrow('There are no outbox messages to show');
		await add('receipt', [{ key: 'a' }, { key: 'b' }]);
		const shown = (await poll(workflow, { mode: 'manual' }))!;
		expect(shown.map(({ json }) => json)).toMatchObject([{ messageKey: 'a', outbox: { messageToken: null, attempt: 0 } }]);
		expect(await poll(workflow)).toHaveLength(2);
		const sent = { ...eventNode('markSent', { parameters: { resource: 'outbox' } }), name: 'Sent' };
		const finished = await runGate(stage, shown, { nodes: [sent], wires: [['Start', 'Sent']], mode: 'manual' });
		expect(details(finished.outputs('Sent')![0]![0], 'outbox')).toMatchObject({ outcome: 'not_handed_out' });
	});
});

describe('what could go wrong', () => {
	it('a store that cannot be reached is an error of the poll, and the next one works', async () => {
		const workflow = published('unfinishedEvents');
		await abandon(`evt_${workflowId}`);
		await expect(poll(workflow, { credentials: { ...stage.postgres, port: 1 } })).rejects.toThrow('Could not reach the Postgres store');
		expect(await poll(workflow)).toHaveLength(1);
	});

	it('says that n8n opens no SSH tunnel for triggers', async () => {
		const credentials = { ...stage.postgres, sshTunnel: true };
		await expect(poll(published('outboxMessages'), { credentials })).rejects.toThrow("A trigger cannot use the SSH tunnel of the credential 'Postgres'");
	});
});
