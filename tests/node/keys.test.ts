/** Where the event key comes from, and what cannot be one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHmac } from 'node:crypto';
import { unsigned } from '../../scripts/deliveries/senders.mjs';
import { delivery, details, freshWorkflow, openStage, plain, routes, runGate, type Setup, type Stage, webhookItem } from './stage';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

const byExpression = (eventId: string, provider = 'none'): Setup => ({
	parameters: { provider, eventIdFrom: 'expression', eventId },
});

describe('an expression', () => {
	it('takes numbers and texts', async () => {
		const setup = { ...byExpression('={{ $json.id }}'), workflowId: freshWorkflow() };
		const finished = await runGate(stage, [plain({ id: 42 }), plain({ id: '42' }), plain({ id: 43 })], setup);
		expect(finished.outputs('Gate')!.map(({ length }) => length)).toEqual([2, 1, 0]);
		expect(details(finished.outputs('Gate')![0]![0])['eventId']).toBe('42');
	});

	it('takes a list as a combined key, whose parts do not run together', async () => {
		const setup = { ...byExpression('={{ [$json.a, $json.b] }}'), workflowId: freshWorkflow() };
		const items = [plain({ a: 'ab', b: 'c' }), plain({ a: 'a', b: 'bc' }), plain({ a: 'ab', b: 'c' })];
		expect(routes(await runGate(stage, items, setup))).toEqual([['claimed', 'claimed'], ['duplicate_in_batch'], []]);
	});

	it.each([
		['an object', { id: { deep: 1 } }],
		['yes or no', { id: true }],
		['a fraction', { id: 1.5 }],
		['a number that is not exact any more', { id: 12345678901234567000 }],
		['a text with NUL', { id: 'a\u0000b' }],
	])('refuses %s', async (_what, json) => {
		const finished = await runGate(stage, [plain(json)], byExpression('={{ $json.id }}'));
		expect(routes(finished)).toEqual([[], [], ['rejected']]);
		expect(details(finished.outputs('Gate')![2]![0])).toMatchObject({ reason: 'event_id_invalid', response: { statusCode: 400 } });
	});

	it('hashes a key that is too long', async () => {
		const setup = { ...byExpression('={{ $json.id }}'), workflowId: freshWorkflow() };
		const long = 'x'.repeat(600);
		const finished = await runGate(stage, [plain({ id: long }), plain({ id: `${long}y` }), plain({ id: long })], setup);
		expect(routes(finished)).toEqual([['claimed', 'claimed'], ['duplicate_in_batch'], []]);
		expect(details(finished.outputs('Gate')![0]![0])['eventId']).toMatch(/^sha256:/);
	});

	it.each(['', null, undefined])('a missing key (%j) stops the workflow where nobody else is to blame', async (id) => {
		const finished = await runGate(stage, [plain(id === undefined ? {} : { id })], byExpression('={{ $json.id }}'));
		expect(finished.error?.message).toBeTruthy();
		expect(finished.received('Claimed')).toBe(0);
	});

	it('a missing key of a signed event is the sender\'s doing', async () => {
		const finished = await runGate(stage, [delivery()], byExpression('={{ $json.body.no_such_field }}', 'stripe'));
		expect(finished.error).toBeUndefined();
		expect(details(finished.outputs('Gate')![2]![0])['reason']).toBe('event_id_missing');
	});

	it.each(['={{ $execution.id }}', '={{ $json.body.id }}-{{ $runIndex }}', '={{ Date.now() }}'])('refuses %s', async (eventId) => {
		const finished = await runGate(stage, [delivery()], byExpression(eventId, 'stripe'));
		expect(finished.error?.message).toBe("'Event ID' changes with every execution");
		expect(finished.received('Claimed')).toBe(0);
	});
});

describe('the body', () => {
	const byBody = (ignoredFields = ''): Setup => ({
		parameters: { provider: 'none', eventIdFrom: 'bodyHash', ignoredFields },
		workflowId: freshWorkflow(),
	});
	const item = (body: string) => {
		const request = unsigned(body);
		return webhookItem(request.headers, request.body);
	};

	it('is the same event in any order of its fields', async () => {
		const items = [item('{"order":7,"total":"1.0"}'), item('{ "total": "1.0", "order": 7 }'), item('{"order":8,"total":"1.0"}')];
		expect(routes(await runGate(stage, items, byBody()))).toEqual([['claimed', 'claimed'], ['duplicate_in_batch'], []]);
	});

	it('keeps every digit', async () => {
		const items = [item('{"id":9007199254740992000}'), item('{"id":9007199254740992001}')];
		expect(routes(await runGate(stage, items, byBody()))).toEqual([['claimed', 'claimed'], [], []]);
	});

	it('leaves out fields that change', async () => {
		const items = [item('{"order":7,"sent_at":1,"meta":{"attempt":1}}'), item('{"order":7,"sent_at":2,"meta":{"attempt":2}}')];
		expect(routes(await runGate(stage, items, byBody('sent_at, meta.attempt')))).toEqual([['claimed'], ['duplicate_in_batch'], []]);
		expect(routes(await runGate(stage, items, byBody('/sent_at,/meta/attempt')))).toEqual([['claimed'], ['duplicate_in_batch'], []]);
	});

	it('is refused when it is empty: all pings would be one event', async () => {
		const empty = { ...item('{}'), binary: { data: { data: '', mimeType: 'application/json' } } };
		const finished = await runGate(stage, [empty], byBody());
		expect(finished.received('Claimed')).toBe(0);
		expect(details(finished.outputs('Gate')![2]![0])['reason']).toBe('body_empty');
	});

	it('is refused when it is too large', async () => {
		const finished = await runGate(stage, [delivery()], { options: { bodySizeLimit: 0.001 * 0.2 + 0.001 } });
		expect(routes(finished)[0]).toEqual(['claimed']);
		const large = item(JSON.stringify({ text: 'x'.repeat(3000) }));
		const refused = await runGate(stage, [large], { ...byBody(), options: { bodySizeLimit: 0.002 } });
		expect(details(refused.outputs('Gate')![2]![0])['reason']).toBe('body_too_large');
	});
});

describe('a time slot', () => {
	it('is claimed once', async () => {
		const setup: Setup = { parameters: { provider: 'none', eventIdFrom: 'timeSlot', slotLength: 86_400 }, workflowId: freshWorkflow() };
		const receivedAt = Date.UTC(2026, 0, 5, 12);
		expect(routes(await runGate(stage, [plain({})], { ...setup, receivedAt }))).toEqual([['claimed'], [], []]);
		expect(routes(await runGate(stage, [plain({})], { ...setup, receivedAt: receivedAt + 60_000 }))).toEqual([[], ['completed'], []]);
		expect(routes(await runGate(stage, [plain({})], { ...setup, receivedAt: receivedAt + 86_400_000 }))).toEqual([['claimed'], [], []]);
	});
});

describe('a custom scheme', () => {
	it('with a prefix, a timestamp header, a template and the id in a header', async () => {
		const setup: Setup = {
			parameters: {
				provider: 'custom',
				signatureHeader: 'X-Shop-Signature',
				signatureFormat: 'base64url',
				hash: 'sha384',
				signatureOptions: { prefix: 'v9=', timestampHeader: 'X-Shop-Time', timestampUnit: 'ms', template: '{id}.{timestamp}.{body}' },
				eventIdFrom: 'header',
				eventIdHeader: 'X-Shop-Event',
			},
			credentials: { Stripe: { signingSecret: 'a shared secret' } },
			workflowId: freshWorkflow(),
		};
		const request = (id: string, signedId = id, at = Date.now()) => {
			const body = Buffer.from('{"order":7}');
			const mac = createHmac('sha384', 'a shared secret').update(`${signedId}.${at}.`).update(body).digest('base64url');
			return webhookItem({ 'x-shop-event': id, 'x-shop-time': String(at), 'x-shop-signature': `v9=${mac}` }, body);
		};
		const items = [request('e1'), request('e1'), request('e2'), request('e3', 'e4'), request('e5', 'e5', Date.now() - 3_600_000)];
		const finished = await runGate(stage, items, setup);
		expect(routes(finished)).toEqual([['claimed', 'claimed'], ['duplicate_in_batch'], ['rejected', 'rejected']]);
		const reasons = finished.outputs('Gate')![2]!.map((item) => details(item)['reason']);
		expect(reasons).toEqual(['signature_mismatch', 'timestamp_outside_tolerance']);
	});
});

describe('a trigger that verifies by itself', () => {
	it('needs neither headers nor a secret', async () => {
		const setup: Setup = {
			parameters: { verifySignature: false, eventIdFrom: 'expression', eventId: '={{ $json.id }}' },
			node: { credentials: { postgres: { id: '1', name: 'Postgres' } } },
		};
		const finished = await runGate(stage, [plain({ id: 'evt_from_trigger', type: 'x' })], setup);
		expect(routes(finished)).toEqual([['claimed'], [], []]);
		expect(details(finished.outputs('Gate')![0]![0])['signature']).toEqual({ verified: false });
	});

	it('without verification, a provider that puts the id in the body needs the raw body', async () => {
		const finished = await runGate(stage, [plain({ id: 'evt' })], { parameters: { verifySignature: false } });
		expect(details(finished.outputs('Gate')![2]![0])['reason']).toBe('raw_body_missing');
	});
});
