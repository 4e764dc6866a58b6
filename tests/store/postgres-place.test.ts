import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { embedded } from '../../node-package/scripts/embed-sql.mjs';
import type { Recovered } from '../../node-package/src/store/lifecycle';
import { createPostgresStore, type PostgresStoreOptions, setupSql } from '../../node-package/src/store/postgres';
import { Tables } from '../../node-package/src/store/postgres/tables';
import type { ClaimAsk, Store } from '../../node-package/src/store/store';
import { startPostgres } from '../../scripts/setup/postgres.mjs';
import { pgClients } from '../harness/pg-clients';

/** Places a store may find itself in: without rights, among strangers, on a standby, behind a closed door. */
describe('where the Postgres store is', () => {
	const tag = randomBytes(4).toString('hex');
	const role = `gate_role_${tag}`;
	const schemas: string[] = [];
	const stores: Store[] = [];
	let server: Awaited<ReturnType<typeof startPostgres>>;
	let admin: pg.Client;

	beforeAll(async () => {
		server = await startPostgres();
		admin = new pg.Client(server.url);
		await admin.connect();
		await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'gate'`);
	});
	afterAll(async () => {
		for (const store of stores) await store.close();
		for (const schema of schemas) await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
		await admin.query(`DROP ROLE ${role}`);
		await admin.end();
		await server.stop();
	});

	const newSchema = async ({ create }: { create: boolean }): Promise<string> => {
		const schema = `gate_place_${tag}_${schemas.length}`;
		schemas.push(schema);
		if (create) await admin.query(`CREATE SCHEMA ${schema}`);
		return schema;
	};
	const open = (options: PostgresStoreOptions, url = server.url): Store => {
		const store = createPostgresStore(pgClients({ connectionString: url, max: 4 }), options);
		stores.push(store);
		return store;
	};
	const asRole = (): string => {
		const url = new URL(server.url);
		url.username = role;
		url.password = 'gate';
		return url.href;
	};

	/** The tables as the first version made them, with an event that is stale, done, live and dead, and a guard that is held. */
	const firstVersion = async (schema: string): Promise<ReadonlyArray<{ readonly eventId: string }>> => {
		const tables = new Tables({ schema });
		await admin.query(tables.sql('migrations_create'));
		for (const { number, name, sql } of tables.migrations.filter((migration) => migration.number <= 4)) {
			await admin.query(sql);
			await admin.query(tables.sql('migrations_record'), [number, name]);
		}
		const claims = [
			{ eventId: 'stale', values: "'p', now() - interval '1 second', NULL" },
			{ eventId: 'done', values: "'c', NULL, now()" },
			{ eventId: 'live', values: "'p', now() + interval '1 hour', NULL" },
			{ eventId: 'dead', values: "'d', NULL, NULL" },
		];
		for (const { eventId, values } of claims) {
			await admin.query(
				`INSERT INTO ${schema}.n8n_idempotency_claims (scope, provider, event_id, owner, state, lease_until, completed_at)
				VALUES ('workflow:1', 'stripe', $1, gen_random_uuid(), ${values})`,
				[eventId],
			);
		}
		await admin.query(
			`INSERT INTO ${schema}.n8n_idempotency_guards (kind, scope, provider, guard_key, holder_provider, holder_event_id)
			VALUES ('k', 'workflow:1', '', 'fact', 'stripe', 'done')`,
		);
		return claims;
	};

	it('a role that may only read and write rows prepares, claims and settles where the tables are', async () => {
		const schema = await newSchema({ create: false });
		await admin.query(setupSql({ schema, role }));
		// An administrator who runs the script again does no harm.
		await admin.query(setupSql({ schema, role }));
		const store = open({ schema }, asRole());
		await store.prepare();
		await claimsAndSettles(store);
	});

	it('where it may not create tables, the message holds the script that helps', async () => {
		const schema = await newSchema({ create: true });
		const store = open({ schema, prefix: 'my' }, asRole());
		const error = await store.prepare().then(() => null, (cause: unknown) => cause as Error & { code: string; help: string });
		expect(error).toMatchObject({ name: 'StoreError', code: 'store_misconfigured' });
		expect(error?.message).toContain(role);
		await admin.query(error?.help.slice(error.help.indexOf('BEGIN')) ?? '');
		await store.prepare();
		await claimsAndSettles(store);
	});

	it('makes the schema where it is missing, and keeps two prefixes apart', async () => {
		const schema = await newSchema({ create: false });
		for (const prefix of ['gate', 'gate_gate', 'Odd_Case_1']) {
			const store = open({ schema, prefix });
			await store.prepare();
			await claimsAndSettles(store);
		}
		const { rows } = await admin.query('SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace ORDER BY 1', [schema]);
		expect(rows.map(({ relname }: { relname: string }) => relname)).toEqual(
			['Odd_Case_1', 'gate_gate', 'gate'].flatMap(relations).sort(),
		);
	});

	it('tables of the first version are brought up to date, with the events that are in them', async () => {
		const schema = await newSchema({ create: true });
		const claims = await firstVersion(schema);
		const store = open({ schema });
		const [stale, done, ...others] = claims.map(({ eventId }) => ({ scope: 'workflow:1', provider: 'stripe', eventId }));
		await Promise.all([store.prepare(), open({ schema }).prepare(), open({ schema }).prepare()]);
		const search = { limit: 5, owners: Array.from({ length: 5 }, token), scope: null, provider: null, maxAttempts: null };
		const found = await store.recover({ ...search, which: 'both', leaseMs: 60_000, unfinished: 'take_over', executionId: null });
		expect(found.map(({ key, verdict, attempt }) => [key, verdict, attempt])).toEqual([[stale, 'taken_over', 2]]);
		const [end] = await store.settle([{ ...ownership(found[0]), to: { state: 'completed' } }]);
		expect(end?.verdict).toBe('settled');
		const again = await store.claim([done, ...others].map((key) => ({ ...ask(), key: key as ClaimAsk['key'] })));
		expect(again.map(({ verdict }) => verdict)).toEqual(['completed', 'in_progress', 'dead']);
		const { guards } = { guards: [{ kind: 'business_key', key: 'fact' }] as const };
		expect((await store.claim([{ ...ask(), guards }]))[0]?.verdict).toBe('business_duplicate');
		await claimsAndSettles(store);
	});

	it('where it may not bring tables up to date, the message holds the script that does', async () => {
		const schema = await newSchema({ create: true });
		await firstVersion(schema);
		await admin.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${role}`);
		await admin.query(`GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO ${role}`);
		const store = open({ schema }, asRole());
		const error = await store.prepare().then(() => null, (cause: unknown) => cause as Error & { code: string; help: string });
		expect(error).toMatchObject({ code: 'store_misconfigured', message: /missing or older/ });
		await admin.query(error?.help.slice(error.help.indexOf('BEGIN')) ?? '');
		await store.prepare();
		await claimsAndSettles(store);
	});

	it("a table of somebody else's with our name is left alone", async () => {
		const schema = await newSchema({ create: true });
		await admin.query(`CREATE TABLE ${schema}.n8n_idempotency_claims (id serial PRIMARY KEY, state text)`);
		await expect(open({ schema }).prepare()).rejects.toMatchObject({
			code: 'store_misconfigured',
			message: expect.stringMatching(/n8n_idempotency_claims that is not the gate's: it lacks the columns fence, /) as string,
		});
		const { rows } = await admin.query('SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace', [schema]);
		expect(rows).toHaveLength(3);
	});

	it('a table that a crash would empty is refused', async () => {
		const schema = await newSchema({ create: true });
		await open({ schema }).prepare();
		await admin.query(`ALTER TABLE ${schema}.n8n_idempotency_claims SET UNLOGGED`);
		await expect(open({ schema }).prepare()).rejects.toMatchObject({ code: 'store_misconfigured', message: /unlogged/ });
	});

	it('tables that were dropped are missed, and made again on request', async () => {
		const schema = await newSchema({ create: true });
		const store = open({ schema });
		await expect(store.claim([ask()])).rejects.toMatchObject({ code: 'store_misconfigured' });
		await store.prepare();
		await claimsAndSettles(store);
	});

	it('a name that could break out of its quotes is refused', () => {
		for (const prefix of ['', 'a"b', 'a.b', "a'b", 'a b', '1a', 'a-b', 'a;b', 'x'.repeat(41), 'a\0']) {
			expect(() => open({ prefix }), prefix).toThrow(/table prefix/);
			expect(() => setupSql({ prefix }), prefix).toThrow(/table prefix/);
		}
		expect(() => open({ schema: 'a"."b' })).toThrow(/schema/);
		expect(setupSql({ role: 'a"; DROP' })).toContain('TO "a""; DROP"');
	});

	it('a key that the database cannot hold is refused alone', async () => {
		const database = `gate_latin1_${tag}`;
		await admin.query(`CREATE DATABASE ${database} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`);
		const url = new URL(server.url);
		url.pathname = `/${database}`;
		const store = createPostgresStore(pgClients({ connectionString: url.href, max: 4 }));
		try {
			await store.prepare();
			const good = Array.from({ length: 10 }, () => ask());
			const [bad, ...replies] = await Promise.all([
				store.claim([ask('\u{1f600}')]).then(() => null, (error: unknown) => error),
				...good.map(async (one) => await store.claim([one])),
			]);
			expect(bad).toMatchObject({ code: 'store_refused_key' });
			expect(replies.flat().map((reply) => (reply as { verdict: string }).verdict)).toEqual(good.map(() => 'claimed'));
		} finally {
			await store.close();
			await admin.query(`DROP DATABASE ${database}`);
		}
	});

	it('a server that is not there is said to be away, with its address', async () => {
		const store = open({}, 'postgres://postgres@127.0.0.1:1/postgres');
		const away = { code: 'store_unavailable', message: 'Could not reach the Postgres store: connection refused (127.0.0.1:1)' };
		await expect(store.prepare()).rejects.toMatchObject(away);
		await expect(store.claim([ask()])).rejects.toMatchObject(away);
		await expect(store.find(ask().key)).rejects.toMatchObject(away);
	});

	it('a server that stays silent is waited for only so long, whatever is asked', async () => {
		const sockets: Socket[] = [];
		const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
		await once(silent, 'listening');
		const { port } = silent.address() as AddressInfo;
		const store = open({ patienceMs: 200 }, `postgres://postgres@127.0.0.1:${port}/postgres`);
		const { key, owner } = ask();
		const filter = { states: [], scope: null, provider: null, eventType: null, fromMs: null, toMs: null, limit: 1 };
		const search = { which: 'both', unfinished: 'hold', limit: 1, owners: [owner], scope: null, provider: null } as const;
		const calls = [
			() => store.find(key),
			() => store.findPayload(key),
			() => store.findByExecution({ executionId: '1', unfinished: true, limit: 1 }),
			() => store.list(filter),
			() => store.recover({ ...search, leaseMs: 1, maxAttempts: null, executionId: null }),
			() => store.extend([{ key, owner, fence: '1', leaseMs: 1 }]),
			() => store.advance([{ key, owner, fence: '1', stage: 'a', stages: ['a'] }]),
			() => store.reopen([{ key, owner, reason: 'x', leaseMs: 1, executionId: null }]),
			() => store.resolve([{ key, fence: null, to: { state: 'dead' }, reason: 'x' }]),
		];
		const errors = await Promise.all(calls.map(async (call) => await call().then(() => null, (error: unknown) => error)));
		for (const error of errors) expect(error).toMatchObject({ code: 'store_busy', message: /did not answer within 0.2 s/ });
		for (const socket of sockets) socket.destroy();
		silent.close();
	});

	it('the embedded SQL is fresh', () => {
		expect(embedded().filter(({ fresh }) => !fresh)).toEqual([]);
	});
});

describe('a server that changes under the store', () => {
	// These need a server that can be stopped, so they start one even where another one is given.
	const given = process.env['GATE_TEST_POSTGRES_URL'];
	const folder = mkdtempSync(path.join(tmpdir(), 'gate-standby-'));
	beforeAll(() => {
		chmodSync(folder, 0o755);
		delete process.env['GATE_TEST_POSTGRES_URL'];
	});
	afterAll(() => {
		if (given !== undefined) process.env['GATE_TEST_POSTGRES_URL'] = given;
		rmSync(folder, { recursive: true, force: true });
	});

	it('a crash loses no claim that was answered, and the store goes on', async () => {
		const server = await startPostgres({ durable: true });
		const store = createPostgresStore(pgClients({ connectionString: server.url, max: 4 }));
		try {
			await store.prepare();
			const owned = Array.from({ length: 200 }, () => ask());
			await Promise.all(owned.map(async (one) => await store.claim([one])));
			await server.halt('crash');
			await expect(store.claim([ask()])).rejects.toMatchObject({ code: 'store_unavailable' });
			await server.resume();
			const replies = await store.claim(owned.map(({ key }) => ({ ...ask(), key })));
			expect(new Set(replies.map(({ verdict }) => verdict))).toEqual(new Set(['in_progress']));
			await claimsAndSettles(store);
		} finally {
			await store.close();
			await server.stop();
		}
	});

	it('a standby takes no claims, whether it is found when preparing or later', async () => {
		const dataDir = path.join(folder, 'data');
		const primary = await startPostgres({ dataDir });
		const port = primary.port;
		const store = createPostgresStore(pgClients({ connectionString: primary.url, max: 4 }));
		const known = ask();
		await store.prepare();
		await store.claim([known]);
		await primary.stop();
		writeFileSync(path.join(dataDir, 'standby.signal'), '', { mode: 0o666 });
		const standby = await startPostgres({ dataDir, port });
		try {
			const readOnly = { code: 'store_misconfigured' };
			await expect(store.prepare()).rejects.toMatchObject({ ...readOnly, message: /standby/ });
			await expect(store.claim([ask()])).rejects.toMatchObject(readOnly);
			await expect(store.claim([{ ...ask(), key: known.key }])).rejects.toMatchObject(readOnly);
		} finally {
			await store.close();
			await standby.stop();
		}
	});
});

function ownership(found: Recovered | undefined): { key: ClaimAsk['key']; owner: string; fence: string } {
	if (!found?.owner || !found.fence) throw new Error('nothing was handed out');
	return { key: found.key, owner: found.owner, fence: found.fence };
}

function token(): string {
	return randomBytes(16).toString('hex');
}

/** Everything that a role must be allowed to do, in one life of an event. */
async function claimsAndSettles(store: Store): Promise<void> {
	const guarded = { ...ask(), guards: [{ kind: 'business_key', key: randomBytes(8).toString('hex') }] as const };
	const [reply] = await store.claim([guarded]);
	expect(reply?.verdict).toBe('claimed');
	const { key, owner } = guarded;
	const [end] = await store.settle([{ key, owner, fence: reply?.fence ?? '', to: { state: 'completed' } }]);
	expect(end?.verdict).toBe('settled');
	const [again] = await store.claim([{ ...ask(), guards: guarded.guards }]);
	expect(again?.verdict).toBe('business_duplicate');

	const message = { scope: key.scope, messageKey: token(), topic: 'mail', orderingKey: null, body: '{}' };
	const payload = { headers: [], body: new Uint8Array(1), keep: 'until_completed' } as const;
	const scope = `workflow:${token()}`;
	const laden = { ...ask(), key: { ...ask().key, scope }, payload, subject: { key: token(), version: '1' }, outbox: [message], leaseMs: 1 };
	expect((await store.claim([laden]))[0]?.verdict).toBe('claimed');
	const order = { key, owner: token(), reason: 'x', leaseMs: 60_000, executionId: null };
	const [reopened] = await store.reopen([order]);
	expect(reopened?.verdict).toBe('reopened');
	const receipt = { key, owner: order.owner, fence: reopened?.fence ?? '' };
	expect((await store.extend([{ ...receipt, leaseMs: 60_000 }]))[0]?.verdict).toBe('extended');
	expect((await store.advance([{ ...receipt, stage: 'a', stages: ['a'] }]))[0]?.verdict).toBe('advanced');
	await store.settle([{ ...receipt, to: { state: 'uncertain', error: 'x' } }]);
	const to = { state: 'completed' } as const;
	expect((await store.resolve([{ key, fence: null, to, reason: 'x' }]))[0]?.verdict).toBe('resolved');
	const found: Recovered[] = [];
	const search = { limit: 5, scope, provider: null, maxAttempts: null, leaseMs: 60_000, executionId: null } as const;
	// The lease of a millisecond is over by the server's clock, soon.
	for (let looks = 0; looks < 1000 && found.length === 0; looks++) {
		const owners = Array.from({ length: 5 }, token);
		found.push(...(await store.recover({ ...search, owners, which: 'both', unfinished: 'take_over' })));
	}
	expect(found.map(({ key: { eventId }, payload: saved }) => [eventId, saved?.body])).toEqual([[laden.key.eventId, payload.body]]);
	expect((await store.settle([{ ...ownership(found[0]), to }]))[0]?.verdict).toBe('settled');
	expect(await store.findPayload(laden.key)).toBeNull();
	expect(await store.list({ states: ['completed'], scope: null, provider: null, eventType: null, fromMs: null, toMs: null, limit: 1 })).toHaveLength(1);
}

function relations(prefix: string): string[] {
	const keyed = ['claims', 'guards', 'migrations', 'payloads', 'subjects'].flatMap((name) => [name, `${name}_pkey`]);
	const letters = ['', '_id_seq', '_pkey'].map((part) => `dead_letters${part}`);
	const tables = [...keyed, ...letters, 'claims_by_age', 'fence', 'floor'];
	const outbox = ['', '_due', '_due_of_topic', '_id', '_in_line', '_key', '_of_owner', '_pkey'].map((part) => `outbox${part}`);
	return [...tables, ...outbox].map((name) => `${prefix}_${name}`);
}

function ask(eventId = `evt_${randomBytes(8).toString('hex')}`): ClaimAsk {
	return {
		key: { scope: 'workflow:1', provider: 'stripe', eventId },
		eventType: null,
		owner: randomBytes(16).toString('hex'),
		bodyDigest: null,
		leaseMs: 600_000,
		maxAttempts: 5,
		unfinished: 'take_over',
		payloadChanged: 'duplicate',
		guards: [],
		executionId: null,
	};
}
