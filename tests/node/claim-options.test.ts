/** Options of Claim that have to do with the life of a claim: saved payloads, versions, messages, waiting, observing. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { closedPort } from './closed-port';
import { eventNode, type Link, rowOf, runLife } from './life';
import { lossyProxy } from './lossy-proxy';
import { delivery, details, freshWorkflow, gateNode, openStage, plain, routes, runGate, type Setup, type Stage } from './stage';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

const newId = () => `evt_${randomUUID()}`;
const unfinishedEvents = 'takeOver';
const hints = (finished: Awaited<ReturnType<typeof runGate>>) => finished.hints.map(({ message }) => message).join('\n');
const claimed = (finished: Awaited<ReturnType<typeof runGate>>) => details(finished.outputs('Gate')![0]![0]);

describe('Save Payload for Recovery', () => {
	const saved = async (id: string) => {
		const { rows } = await stage.database.query<{ headers: string; body: Buffer; keep: boolean }>(
			'SELECT headers, body, keep FROM n8n_idempotency_payloads WHERE event_id = $1',
			[id],
		);
		return rows;
	};

	it('keeps the delivery until the event is completed, without what vouches for the sender', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		const item = delivery({ id });
		item.json['headers'] = { ...(item.json['headers'] as object), authorization: 'Bearer secret' };
		const finished = await runLife(stage, [item], [], setup);
		expect(claimed(finished)['payloadSaved']).toBe(true);
		const [row] = await saved(id);
		expect(row!.body.toString('base64')).toBe(item.binary!['data']!.data);
		expect(row!.headers).toContain('application/json');
		expect(row!.headers).not.toMatch(/stripe-signature|authorization/i);

		const again = eventNode('complete', { parameters: { event: 'eventId', eventId: id } });
		await runGate(stage, [plain({})], { ...setup, nodes: [again], wires: [['Start', 'Complete']] });
		expect((await rowOf(stage, id)).state).toBe('completed');
		expect(await saved(id)).toEqual([]);
	});

	it.each<[way: string, kept: number]>([['always', 1], ['never', 0], ['untilCompleted', 0]])('%s: %i of it after the end', async (savePayload, kept) => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [eventNode('complete')], { options: { savePayload } });
		expect(claimed(finished)['payloadSaved']).toBe(savePayload !== 'never');
		expect(await saved(id)).toHaveLength(kept);
	});

	it('says so where the body is too large to be saved', async () => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [], { options: { payloadSizeLimit: 0.001, bodySizeLimit: 5 }, parameters: {} });
		const small = claimed(finished)['payloadSaved'];
		const long = delivery({ id: newId(), type: `x.${'y'.repeat(2000)}` });
		const large = await runLife(stage, [long], [], { options: { payloadSizeLimit: 0.001 } });
		expect([small, claimed(large)['payloadSaved']]).toEqual([true, false]);
		expect(hints(finished)).not.toContain('too large');
		expect(hints(large)).toContain("The body is too large to be saved. If its handling stops, the event is handed out again without it");
	});

	it('saves nothing of what is completed by claiming it', async () => {
		const id = newId();
		const finished = await runGate(stage, [delivery({ id })]);
		expect(claimed(finished)).toMatchObject({ status: 'completed', payloadSaved: false });
		expect(await saved(id)).toEqual([]);
		expect(hints(finished)).toBe('');
	});
});

describe('Object Key and Object Version', () => {
	const parameters = { provider: 'none', eventIdFrom: 'expression', eventId: '={{ $json.id }}' };
	const options = { objectKey: '={{ $json.object }}', objectVersion: '={{ $json.version }}' };
	const run = async (workflowId: string, version: unknown, more: Setup['options'] = {}) => {
		const item = plain({ id: newId(), object: 'sub_1', version: version as never });
		return await runLife(stage, [item], [eventNode('complete')], { workflowId, parameters, options: { ...options, ...more } });
	};

	it.each<[what: string, older: unknown, newer: unknown]>([
		['numbers', 9, 10],
		['numbers as text', '9', '10'],
		['times', '2026-11-30T10:00:00Z', '2026-11-30T10:00:01Z'],
		['times of different zones', '2026-11-30T11:00:00+02:00', '2026-11-30T10:00:00Z'],
		['times finer than a millisecond', '2026-11-30T10:00:00.123456Z', '2026-11-30T10:00:00.123457Z'],
		['days', '2026-11-30', '2026-12-01'],
	])('%s: an event that is older than what was done is superseded', async (_, older, newer) => {
		const workflowId = freshWorkflow();
		expect(routes(await run(workflowId, newer))).toEqual([['claimed'], [], []]);
		const late = await run(workflowId, older);
		expect(routes(late)).toEqual([[], ['superseded'], []]);
		expect(routes(await run(workflowId, newer))).toEqual([['claimed'], [], []]);
	});

	it.each<[what: string, version: unknown]>([
		['nothing', null],
		['words', 'newest'],
		['an object', { at: 1 }],
		['a negative number', -1],
	])('%s is no version: Rejected', async (_, version) => {
		const finished = await run(freshWorkflow(), version);
		expect(routes(finished)).toEqual([[], [], ['rejected']]);
		expect(details(finished.outputs('Gate')![2]![0])).toMatchObject({ reason: 'object_version_invalid', response: { statusCode: 400 } });
	});

	it('one without the other stops the workflow', async () => {
		const finished = await run(freshWorkflow(), 1, { objectKey: '' });
		expect(finished.error?.message).toBe("'Object Key' is not set");
	});
});

describe('Outbox Message', () => {
	const message = (fields: object = {}) => ({ outboxMessage: { messages: [{ topic: 'receipt', body: '={{ { to: $json.body.type } }}', ...fields }] } });
	const stored = async (key: string) => {
		const { rows } = await stage.database.query<{ message_key: string; topic: string; body: string; ordering_key: string | null; scope: string }>(
			'SELECT message_key, topic, body, ordering_key, scope FROM n8n_idempotency_outbox WHERE message_key LIKE $1 ORDER BY id',
			[`${key}%`],
		);
		return rows;
	};

	it('is stored with the claim, once', async () => {
		const setup = { workflowId: freshWorkflow(), options: message({ orderingKey: 'cus_1' }) };
		const item = delivery({ type: 'invoice.paid' });
		const finished = await runLife(stage, [item], [], setup);
		await runLife(stage, [item], [], setup);
		const key = claimed(finished)['idempotencyKey'] as string;
		expect(await stored(key)).toEqual([
			{ message_key: `${key}-receipt`, topic: 'receipt', body: '{"to":"invoice.paid"}', ordering_key: 'cus_1', scope: `workflow:${setup.workflowId}` },
		]);
	});

	it('is stored with the end', async () => {
		const finished = await runLife(stage, [delivery()], [eventNode('complete', { options: message({ body: '{"done": true}' }) })]);
		expect(finished.error).toBeUndefined();
		const key = claimed(finished)['idempotencyKey'] as string;
		expect(await stored(key)).toMatchObject([{ message_key: `${key}-receipt`, body: '{"done": true}' }]);
	});

	it('has the key that the user gives', async () => {
		const key = newId();
		await runLife(stage, [delivery()], [], { options: message({ messageKey: key }) });
		expect(await stored(key)).toHaveLength(1);
	});

	it.each<[what: string, fields: object, message: string]>([
		['no topic', { topic: '={{ "" }}' }, "'Topic' is empty"],
		['a body that is no JSON', { body: '{ to: }' }, "'Body' is not JSON"],
		['a key that is an object', { messageKey: '={{ $json.body }}' }, "'Message Key' is not a text"],
	])('with %s: stops before anything is claimed', async (_, fields, text) => {
		const id = newId();
		const finished = await runLife(stage, [delivery({ id })], [], { options: message(fields) });
		expect(finished.error?.message).toBe(text);
		await expect(rowOf(stage, id)).rejects.toThrow('0 records');
	});
});

describe('Wait for the Winner', () => {
	it('a duplicate of an event in progress waits for its end and has its result', async () => {
		const setup = { workflowId: freshWorkflow() };
		const item = delivery();
		const proxy = await lossyProxy(stage.postgres);
		const credentials = { Postgres: { ...stage.postgres, port: proxy.port } };
		let waiting: ReturnType<typeof runLife> | undefined;
		const begun: Link = {
			name: 'Charge',
			act: async () => {
				waiting = runLife(stage, [item], [], { ...setup, credentials, options: { waitForWinnerSeconds: 60 } });
				// Whoever asks again has met the live claim and waits.
				await vi.waitFor(() => expect(proxy.seen(/INSERT INTO/)).toBeGreaterThan(1), { timeout: 60_000 });
			},
		};
		await runLife(stage, [item], [begun, eventNode('complete', { options: { result: '{"chargeId":"ch_1"}' } })], setup);
		const finished = await waiting!;
		expect(routes(finished)).toEqual([[], ['completed'], []]);
		expect(details(finished.outputs('Gate')![1]![0])['result']).toEqual({ chargeId: 'ch_1' });
		await proxy.close();
	});
});

describe('While in Progress', () => {
	it.each<[way: string, output: number, statusCode: number]>([
		['duplicate', 1, 409],
		['accept', 1, 200],
		['rejected', 2, 409],
	])('%s: leaves by output %i, with a ready answer of %i', async (whileInProgress, output, statusCode) => {
		const setup = { workflowId: freshWorkflow() };
		const item = delivery();
		await runLife(stage, [item], [], setup);
		const again = await runLife(stage, [item], [], { ...setup, options: { whileInProgress } });
		const [out] = again.outputs('Gate')![output]!;
		expect(details(out)).toMatchObject({ outcome: 'in_progress', response: { statusCode } });
		const headers = (details(out)['response'] as { headers: Record<string, string> }).headers;
		expect('retry-after' in headers).toBe(statusCode === 409);
	});
});

describe('Observe', () => {
	const options = { mode: 'observe' };

	it('says what would have happened, and lets everything through', async () => {
		const setup = { workflowId: freshWorkflow(), options };
		const item = delivery();
		const finished = await runLife(stage, [item, structuredClone(item), delivery({}, { secret: 'whsec_wrong' })], [], setup);
		expect(finished.error).toBeUndefined();
		expect(finished.outputs('Gate')!.map((items) => items.length)).toEqual([3, 0, 0]);
		expect(finished.received('Done')).toBe(3);
		const told = finished.outputs('Gate')![0]!;
		expect(told.map((out) => out.json['claimed'])).toEqual([true, true, true]);
		expect(told.map((out) => details(out)['outcome'])).toEqual(['claimed', 'claimed', 'claimed']);
		expect(told.map((out) => details(out)['observed'])).toMatchObject([
			{ output: 'claimed', outcome: 'claimed' },
			{ output: 'duplicate', outcome: 'duplicate_in_batch' },
			{ output: 'rejected', outcome: 'rejected', reason: 'signature_mismatch' },
		]);
		expect(told[2]!.binary).toBeDefined();
		expect(hints(finished)).toContain("With 'Mode' set to Enforce this event would have gone to 'Duplicate' [item 1]");
	});

	it('lets events through though the store is down or the gate is not set up', async () => {
		const port = await closedPort();
		const setups: Array<[Setup, string]> = [
			[{ credentials: { Postgres: { ...stage.postgres, host: '127.0.0.1', port } } }, 'store_unavailable'],
			[{ credentials: { Stripe: { signingSecret: '' } } }, 'secret_missing'],
			[{ node: { credentials: {} } }, 'credential_unusable'],
			[{ options: { businessKey: "={{ $('Nowhere').item.json.id }}" } }, 'parameter_invalid'],
			[{ node: { alwaysOutputData: true } }, 'always_output_data'],
			[{ node: { onError: 'continueErrorOutput' }, options: { leaseMinutes: 0 } }, 'parameter_invalid'],
		];
		for (const [setup, reason] of setups) {
			const finished = await runGate(stage, [delivery()], { ...setup, options: { ...options, ...setup.options } });
			expect(finished.error, reason).toBeUndefined();
			expect(finished.outputs('Gate')![0]!.map((out) => details(out)['observed']), reason).toMatchObject([{ output: 'rejected', reason }]);
			expect(finished.received('Claimed')).toBe(1);
		}
	});

	it('what was not claimed ends nothing, and what was claimed is completed', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow(), options: { ...options, unfinishedEvents } };
		const item = delivery({ id });
		const first = await runLife(stage, [item], [eventNode('complete')], setup);
		expect(details(first.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'completed' });
		const again = await runLife(stage, [item], [eventNode('complete')], setup);
		expect(details(again.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'not_claimed' });
	});

	it('behind a gate that claims: what that one claimed is not ended in place of its own', async () => {
		const id = newId();
		const setup = { workflowId: freshWorkflow() };
		const observing = { ...gateNode({ options: { ...options, unfinishedEvents, scope: 'custom', scopeName: setup.workflowId, resultField: 'second' } }), name: 'Second' };
		// The second gate has had the event before.
		await runGate(stage, [delivery({ id })], { ...setup, nodes: [observing], wires: [['Start', 'Second']] });
		const finished = await runLife(stage, [delivery({ id })], [observing, eventNode('complete')], setup);
		expect(details(finished.outputs('Complete')![0]![0])).toMatchObject({ outcome: 'not_claimed' });
	});
});
