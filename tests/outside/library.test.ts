import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../../scripts/setup/postgres.mjs';

// The built library, as another Node program would load it: no n8n anywhere near.
const { Gate, loadCore, createPostgresStore } = require('../../node-package/dist/index.js') as typeof import('../../node-package/src');
type Rules = import('../../node-package/src').GateRules;
type Clients = import('../../node-package/src').SqlClients;

const secret = 'outside_secret';
const core = loadCore();
const rules: Rules = {
	provider: 'github',
	verification: { secrets: [Buffer.from(secret)] },
	scope: 'service:shop',
	keySource: { type: 'provider' },
	businessKey: null,
	guardBody: true,
	maxBodyBytes: 1_000_000,
	leaseMs: 60_000,
	maxAttempts: 5,
	unfinished: 'take_over',
	payloadChanged: 'duplicate',
	policy: { inProgress: 'accept', needsAttention: 'accept', inProgressOutput: 'duplicate' },
};

let postgres: Awaited<ReturnType<typeof startPostgres>>;
let pool: pg.Pool;

beforeAll(async () => {
	postgres = await startPostgres();
	pool = new pg.Pool({ connectionString: postgres.url, max: 4 });
	const store = createPostgresStore(pooled(pool));
	await store.prepare();
});

afterAll(async () => {
	await pool?.end();
	await postgres?.stop();
});

describe('the library in a plain HTTP server', () => {
	let server: Server;
	let url: string;

	beforeAll(async () => {
		const gate = new Gate(core, createPostgresStore(pooled(pool)));
		server = createServer(async (request, response) => {
			const delivery = { headers: headers(request), body: await bytes(request), receivedAtMs: Date.now() };
			const applicant = { delivery, rules, owner: core.newToken(), executionId: null };
			const [admission] = await gate.admit([applicant]);
			const answer = admission?.decision.response;
			response.writeHead(answer?.statusCode ?? 500, answer?.headers);
			response.end(JSON.stringify({ claimed: admission?.decision.claimed, outcome: admission?.decision.outcome }));
		});
		await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
		url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
	});

	afterAll(() => new Promise((closed) => server.close(closed)));

	it('lets one of 20 simultaneous deliveries through', async () => {
		const answers = await Promise.all(Array.from({ length: 20 }, () => deliver(url, 'delivery-1', '{"action":"opened","n":1}')));
		expect(answers.filter(({ claimed }) => claimed)).toHaveLength(1);
		expect(answers.filter(({ claimed }) => claimed === false)).toHaveLength(19);
		expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
	});

	it('turns a forged delivery away', async () => {
		expect(await deliver(url, 'delivery-2', '{"n":2}', 'f'.repeat(64))).toMatchObject({ status: 401, claimed: false });
	});

	it('knows a captured body under a new id', async () => {
		const body = '{"action":"opened","n":3}';
		expect(await deliver(url, 'delivery-3', body)).toMatchObject({ claimed: true });
		expect(await deliver(url, 'delivery-3-again', body)).toMatchObject({ claimed: false, outcome: 'body_duplicate' });
	});
});

describe("the claim inside the application's own transaction", () => {
	beforeAll(() => pool.query('CREATE TABLE shipments (event_id text PRIMARY KEY)'));

	it('commits with the business row', async () => {
		expect(await ship('delivery-4', 'COMMIT')).toBe('claimed');
		expect(await ship('delivery-4', 'COMMIT')).toBe('in_progress');
		expect(await shipments('delivery-4')).toBe(1);
	});

	it('is gone with the business row', async () => {
		expect(await ship('delivery-5', 'ROLLBACK')).toBe('claimed');
		expect(await shipments('delivery-5')).toBe(0);
		expect(await ship('delivery-5', 'COMMIT')).toBe('claimed');
	});

	async function ship(id: string, end: 'COMMIT' | 'ROLLBACK'): Promise<string | undefined> {
		const client = await pool.connect();
		try {
			await client.query('BEGIN');
			const gate = new Gate(core, createPostgresStore(borrowed(client)));
			const body = Buffer.from(JSON.stringify({ id }));
			const delivery = { headers: signed(id, body), body, receivedAtMs: Date.now() };
			const [admission] = await gate.admit([{ delivery, rules, owner: core.newToken(), executionId: null }]);
			if (admission?.decision.claimed) await client.query('INSERT INTO shipments VALUES ($1)', [id]);
			await client.query(end);
			return admission?.decision.outcome;
		} finally {
			client.release();
		}
	}

	async function shipments(id: string): Promise<number> {
		return (await pool.query('SELECT FROM shipments WHERE event_id = $1', [id])).rowCount ?? 0;
	}
});

describe('the life of a claim', () => {
	const store = () => createPostgresStore(pooled(pool));

	it('an interrupted event is handed out again as it came in, and its first owner is told so', async () => {
		const { applicant, body } = request('delivery-6');
		const saving: Rules = { ...rules, savePayload: { keep: 'until_completed', maxBytes: 1000 } };
		const [admission] = await new Gate(core, store()).admit([{ ...applicant, rules: saving }]);
		const key = { scope: rules.scope, provider: 'github', eventId: 'delivery-6' };
		// Time passes: the lease ends without a word of the owner.
		await pool.query("UPDATE n8n_idempotency_claims SET lease_until = now() - interval '1 second' WHERE event_id = $1", [key.eventId]);

		const search = { which: 'both', limit: 10, scope: rules.scope, provider: null, leaseMs: 60_000, maxAttempts: null } as const;
		const owners = Array.from({ length: 10 }, () => core.newToken());
		const recovered = await store().recover({ ...search, owners, unfinished: 'take_over', executionId: null });
		expect(recovered).toMatchObject([{ key, verdict: 'taken_over', attempt: 2 }]);
		expect(Buffer.from(recovered[0]?.payload?.body ?? []).equals(body)).toBe(true);
		expect(recovered[0]?.payload?.headers.map(([name]) => name)).toEqual(['X-GitHub-Delivery', 'X-GitHub-Event']);

		const first = { key, owner: applicant.owner, fence: admission?.claim?.fence as string };
		const second = { key, owner: recovered[0]?.owner as string, fence: recovered[0]?.fence as string };
		const done = { state: 'completed', result: { issue: 7 } } as const;
		expect(await store().settle([{ ...first, to: done }])).toMatchObject([{ verdict: 'fenced_out' }]);
		expect(await store().settle([{ ...second, to: done }])).toMatchObject([{ verdict: 'settled' }]);
		expect(await new Gate(core, store()).admit([request('delivery-6').applicant])).toMatchObject([
			{ decision: { claimed: false, outcome: 'completed' }, claim: { result: { issue: 7 } } },
		]);
	});

	it('a duplicate that waits for the winner has its result', async () => {
		const { applicant } = request('delivery-7');
		const [admission] = await new Gate(core, store()).admit([applicant]);
		const patient: Rules = { ...rules, waitForWinnerMs: 30_000 };
		const asked = watched(store());
		const waiting = new Gate(core, asked.store).admit([{ ...request('delivery-7').applicant, rules: patient }]);
		// It has been told that somebody is at it, and asks again.
		await asked.twice;
		const receipt = { key: { scope: rules.scope, provider: 'github', eventId: 'delivery-7' }, owner: applicant.owner };
		await store().settle([{ ...receipt, fence: admission?.claim?.fence as string, to: { state: 'completed', result: 'won' } }]);
		expect(await waiting).toMatchObject([{ decision: { outcome: 'completed' }, claim: { result: 'won' } }]);
	});

	it("a stuck key beside it does not cost an event its claim", async () => {
		const rival = await pool.connect();
		try {
			await rival.query('BEGIN');
			await createPostgresStore(borrowed(rival)).claim([ask('delivery-9')]);
			const impatient = createPostgresStore(pooled(pool), { lockTimeoutMs: 200 });
			const admissions = await new Gate(core, impatient).admit([request('delivery-8').applicant, request('delivery-9').applicant]);
			expect(admissions.map(({ decision }) => decision.outcome)).toEqual(['reentrant', 'unavailable']);
			expect(admissions[1]?.storeError?.code).toBe('store_busy');
		} finally {
			await rival.query('ROLLBACK');
			rival.release();
		}
	});

	function request(id: string) {
		const body = Buffer.from(JSON.stringify({ action: 'opened', id }));
		const delivery = { headers: signed(id, body), body, receivedAtMs: Date.now() };
		return { body, applicant: { delivery, rules, owner: core.newToken(), executionId: null } };
	}

	function ask(eventId: string) {
		const key = { scope: rules.scope, provider: 'github', eventId };
		const { leaseMs, maxAttempts, unfinished, payloadChanged } = rules;
		const rest = { eventType: null, bodyDigest: null, guards: [], executionId: null };
		return { key, owner: core.newToken(), leaseMs, maxAttempts, unfinished, payloadChanged, ...rest };
	}

	function watched(inner: ReturnType<typeof store>) {
		let asks = 0;
		let tell: () => void = () => {};
		const twice = new Promise<void>((resolve) => (tell = resolve));
		const claim: typeof inner.claim = async (asked) => {
			if (++asks === 2) tell();
			return await inner.claim(asked);
		};
		return { twice, store: { claim } };
	}
});

function pooled(from: pg.Pool): Clients {
	return {
		acquire: async () => {
			const client = await from.connect();
			return { client, release: (broken) => client.release(broken) };
		},
		close: async () => {},
	};
}

function borrowed(client: pg.PoolClient): Clients {
	return { acquire: async () => ({ client, release: () => {} }), close: async () => {} };
}

function signed(id: string, body: Buffer): Array<[string, string]> {
	const signature = createHmac('sha256', secret).update(body).digest('hex');
	return [['X-GitHub-Delivery', id], ['X-GitHub-Event', 'issues'], ['X-Hub-Signature-256', `sha256=${signature}`]];
}

async function deliver(url: string, id: string, text: string, forged?: string) {
	const body = Buffer.from(text);
	const sent = new Headers(signed(id, body));
	if (forged) sent.set('X-Hub-Signature-256', `sha256=${forged}`);
	const response = await fetch(url, { method: 'POST', headers: sent, body });
	return { status: response.status, ...((await response.json()) as { claimed: boolean; outcome: string }) };
}

function headers(request: IncomingMessage): Array<[string, string]> {
	return Array.from({ length: request.rawHeaders.length / 2 }, (_, at) => [
		request.rawHeaders[2 * at] as string,
		request.rawHeaders[2 * at + 1] as string,
	]);
}

async function bytes(request: IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks);
}
