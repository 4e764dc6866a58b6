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
