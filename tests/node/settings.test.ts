/** Settings of n8n that let items past a gate which is written in the usual way. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closedPort } from './closed-port';
import { delivery, details, freshWorkflow, openStage, plain, routes, runGate, type Setup, type Stage } from './stage';

let stage: Stage;
/** A store that is down: nobody listens there. */
let down: NonNullable<Setup['credentials']>;
beforeAll(async () => {
	stage = await openStage();
	down = { Postgres: { ...stage.postgres, host: '127.0.0.1', port: await closedPort() } };
});
afterAll(() => stage?.close());

const noSecret = { Stripe: { signingSecret: '' } };

describe('On Error: Stop', () => {
	it('store down: the workflow fails and says what to check', async () => {
		const finished = await runGate(stage, [delivery()], { credentials: down });
		expect(finished.error?.message).toMatch(/^Could not reach the Postgres store: connection refused \(127\.0\.0\.1:\d+\)$/);
		expect(finished.error?.description).toContain("in the credential 'Postgres'");
		expect(finished.outputs('Gate')).toBeUndefined();
		expect(finished.received('Claimed')).toBe(0);
	});

	it('no secret: the workflow fails before the store is asked', async () => {
		const finished = await runGate(stage, [delivery()], { credentials: { ...down, ...noSecret } });
		expect(finished.error?.message).toMatch(/secret/i);
		expect(finished.received('Claimed')).toBe(0);
	});

	it('a bad signature is the sender\'s doing: no failure, and no store needed', async () => {
		const finished = await runGate(stage, [delivery({}, { secret: 'whsec_wrong' })], { credentials: down });
		expect(finished.error).toBeUndefined();
		expect(routes(finished)).toEqual([[], [], ['rejected']]);
	});

	it('does not fail once something is claimed: that claim would be lost', async () => {
		const setup: Setup = { parameters: { provider: 'none', eventIdFrom: 'expression', eventId: '={{ $json.id }}' } };
		const finished = await runGate(stage, [plain({ id: 'one' }), plain({ name: 'without an id' })], setup);
		expect(finished.error).toBeUndefined();
		expect(routes(finished)).toEqual([['claimed'], [], ['rejected']]);
		expect(details(finished.outputs('Gate')![2]![0])['reason']).toBe('event_id_missing');
		expect(finished.hints.map(({ message }) => message).join()).toContain('[item 1]');
	});
});

describe('On Error: Continue', () => {
	const node = { onError: 'continueRegularOutput' as const };

	it('store down: Rejected, never Claimed, and nothing about the database in the item', async () => {
		const finished = await runGate(stage, [delivery()], { credentials: down, node });
		expect(finished.error).toBeUndefined();
		expect(routes(finished)).toEqual([[], [], ['unavailable']]);
		const [out] = finished.outputs('Gate')![2]!;
		expect(out!.json['claimed']).toBe(false);
		expect(details(out)).toMatchObject({ reason: 'store_unavailable', response: { statusCode: 503 } });
		expect(JSON.stringify(details(out))).not.toContain('127.0.0.1');
		expect([finished.received('Claimed'), finished.received('Rejected')]).toEqual([0, 1]);
	});

	it.each<[what: string, setup: Setup, reason: string]>([
		['no secret', { credentials: noSecret }, 'secret_missing'],
		['no headers', { parameters: {} }, 'headers_missing'],
		['an event ID that never repeats', { parameters: { eventIdFrom: 'expression', eventId: '={{ $execution.id }}' } }, 'event_id_not_stable'],
		['a scope without a name', { options: { scope: 'custom' } }, 'scope_invalid'],
		['a table prefix that is none', { options: { tablePrefix: 'a"; drop table x' } }, 'store_misconfigured'],
		['a tolerance of nothing', { options: { timestampTolerance: 0 } }, 'parameter_invalid'],
		['a name for the result that cannot be read', { options: { resultField: "={{ $('Nowhere').item.json.id }}" } }, 'parameter_invalid'],
		['a scope whose name is not in the event', { options: { scope: 'custom', scopeName: '={{ $json.body.no_such_field }}' } }, 'parameter_invalid'],
		['a scope whose name is an object', { options: { scope: 'custom', scopeName: '={{ $json.body }}' } }, 'parameter_invalid'],
		['a scope whose name is half a character', { options: { scope: 'custom', scopeName: "={{ '\\ud800' }}" } }, 'parameter_invalid'],
		['a schema that nobody set', { options: { schema: '={{ $vars.no_such_variable }}' } }, 'parameter_invalid'],
		['a schema that only PostgreSQL may make', { options: { schema: 'pg_gate' } }, 'store_misconfigured'],
		['no credential', { node: { credentials: {} } }, 'credential_unusable'],
		['an expression that fails', { parameters: { eventIdFrom: 'expression', eventId: "={{ $('Nowhere').item.json.id }}" } }, 'parameter_invalid'],
	])('%s: Rejected with the reason', async (what, setup, reason) => {
		const item = what === 'no headers' ? plain({ id: 'evt' }) : delivery();
		const finished = await runGate(stage, [item], { ...setup, node: { ...node, ...setup.node } });
		expect(finished.error).toBeUndefined();
		expect(finished.received('Claimed')).toBe(0);
		const [out] = finished.outputs('Gate')![2]!;
		expect(out!.json['claimed']).toBe(false);
		expect(details(out)['reason']).toBe(reason);
		expect(details(out)['message']).not.toBe('');
	});
});

describe('On Error: Continue (using error output)', () => {
	const node = { onError: 'continueErrorOutput' as const };

	it('store down: the error output, with the input merged in by n8n', async () => {
		const item = delivery();
		const finished = await runGate(stage, [item], { credentials: down, node });
		const outputs = finished.outputs('Gate')!;
		expect(outputs.map(({ length }) => length)).toEqual([0, 0, 0, 1]);
		expect(outputs[3]![0]!.json).toMatchObject({
			body: item.json['body'],
			error: expect.any(String),
			details: { claimed: false, idempotency: { reason: 'store_unavailable', outcome: 'unavailable' } },
		});
		expect([finished.received('Claimed'), finished.received('Failed')]).toEqual([0, 1]);
	});

	it('an error of the node before is not taken for one of the gate', async () => {
		const item = { ...plain({}), error: new Error('before') as never };
		const parameters = { provider: 'none', eventIdFrom: 'expression', eventId: "={{ 'event after ' + $json.error }}" };
		const finished = await runGate(stage, [item], { node, parameters });
		expect(routes(finished)).toEqual([['claimed'], [], [], []]);
		expect(finished.outputs('Gate')![0]![0]!.json['claimed']).toBe(true);
		expect([finished.received('Claimed'), finished.received('Failed')]).toEqual([1, 0]);
	});

	it('a rejected delivery is no error', async () => {
		const finished = await runGate(stage, [delivery({}, { secret: 'whsec_wrong' })], { node });
		expect(finished.outputs('Gate')!.map(({ length }) => length)).toEqual([0, 0, 1, 0]);
	});

	it('a claimed item stays, whatever the input is named', async () => {
		const setup = { node, parameters: { provider: 'none', eventIdFrom: 'expression', eventId: '={{ $json.error }}' } };
		const finished = await runGate(stage, [plain({ error: 'E1', message: 'x' })], setup);
		expect(finished.outputs('Gate')!.map(({ length }) => length)).toEqual([1, 0, 0, 0]);
	});

	it('with a single output', async () => {
		const finished = await runGate(stage, [delivery()], {
			...{ credentials: down, node, options: { output: 'single' } },
			wires: [['Start', 'Gate'], ['Gate', 'Claimed', 0], ['Gate', 'Failed', 1]],
		});
		expect([finished.received('Claimed'), finished.received('Failed')]).toEqual([0, 1]);
	});
});

describe('Always Output Data', () => {
	it('stops: n8n would send an empty item to Claimed for every duplicate', async () => {
		const finished = await runGate(stage, [delivery()], { node: { alwaysOutputData: true } });
		expect(finished.error?.message).toBe("'Always Output Data' cannot be used with this node");
		expect(finished.received('Claimed')).toBe(0);
	});

	it.each(['continueRegularOutput', 'continueErrorOutput'] as const)('is turned off where the node may not stop: %s', async (onError) => {
		const finished = await runGate(stage, [delivery()], { node: { alwaysOutputData: true, onError } });
		expect(finished.error).toBeUndefined();
		expect(finished.received('Claimed')).toBe(0);
		expect(finished.received('Rejected') + finished.received('Failed')).toBe(1);
	});

	it('does no harm where there is one output', async () => {
		const setup = { node: { alwaysOutputData: true }, options: { output: 'single' }, workflowId: freshWorkflow() };
		const item = delivery();
		await runGate(stage, [item], setup);
		const finished = await runGate(stage, [item], setup);
		expect(finished.outputs('Gate')![0]!.map(({ json }) => json['claimed'])).toEqual([false]);
	});
});

describe('Execute Once', () => {
	it('one item: goes on, with a hint', async () => {
		const finished = await runGate(stage, [delivery()], { node: { executeOnce: true } });
		expect(routes(finished)).toEqual([['claimed'], [], []]);
		expect(finished.hints.map(({ message }) => message).join()).toContain('Execute Once');
	});

	it('more items: stops, since n8n would drop all but the first', async () => {
		const finished = await runGate(stage, [delivery(), delivery(), delivery()], { node: { executeOnce: true } });
		expect(finished.error?.message).toBe("'Execute Once' would drop 2 of 3 events [item 0]");
	});

	it('more items, where the node may not stop: all to Rejected', async () => {
		const node = { executeOnce: true, onError: 'continueRegularOutput' as const };
		const finished = await runGate(stage, [delivery(), delivery(), delivery()], { node });
		expect(finished.outputs('Gate')!.map(({ length }) => length)).toEqual([0, 0, 3]);
	});
});

describe('a disabled gate', () => {
	it('lets everything pass: n8n does that, and the README says so', async () => {
		const finished = await runGate(stage, [delivery({}, { secret: 'whsec_wrong' })], { node: { disabled: true } });
		expect(finished.received('Claimed')).toBe(1);
	});
});

describe('Respond to Webhook', () => {
	it.each([
		['never', [], []],
		['rejected', [], [401]],
		['duplicatesAndRejected', [200], [401]],
	] as const)('%s', async (respondToWebhook, forDuplicate, forRejected) => {
		const setup = { options: { respondToWebhook }, workflowId: freshWorkflow() };
		const item = delivery();
		const claimed = await runGate(stage, [item], setup);
		const duplicate = await runGate(stage, [item], setup);
		const rejected = await runGate(stage, [delivery({}, { secret: 'whsec_wrong' })], setup);
		const codes = (run: typeof claimed) => run.responses.map((response) => (response as { statusCode: number }).statusCode);
		expect([codes(claimed), codes(duplicate), codes(rejected)]).toEqual([[], forDuplicate, forRejected]);
	});
});
