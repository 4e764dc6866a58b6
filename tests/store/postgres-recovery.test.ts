import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../node-package/src/store/postgres';
import { Tables } from '../../node-package/src/store/postgres/tables';
import type { Recovered, RecoverySearch } from '../../node-package/src/store/lifecycle';
import type { Store } from '../../node-package/src/store/store';
import { startPostgres } from '../../scripts/setup/postgres.mjs';
import { pgClients } from '../harness/pg-clients';

/**
 * What a recovery reads of a large store, and how it knows: nothing that was first seen before the floor is unfinished.
 * The floor is invisible in what a store answers, until it is wrong: then an event is never recovered.
 */
describe('recovery in a large Postgres store', () => {
	const completed = 200_000;
	const schema = `gate_recovery_${randomBytes(6).toString('hex')}`;
	const claims = `${schema}.n8n_idempotency_claims`;
	const tables = new Tables({ schema });
	let server: Awaited<ReturnType<typeof startPostgres>>;
	let admin: pg.Client;
	let store: Store;

	beforeAll(async () => {
		server = await startPostgres({ settings: { max_prepared_transactions: 5, autovacuum: 'off' } });
		admin = new pg.Client(server.url);
		await admin.connect();
		store = createPostgresStore(pgClients({ connectionString: server.url, max: 4 }), { schema });
		await store.prepare();
		// Ten days of events that are done, the last of them an hour and a half ago.
		await admin.query(
			`INSERT INTO ${claims} (scope, provider, event_id, event_type, state, owner, execution_id, first_seen_at, completed_at)
			SELECT 'workflow:1', 'stripe', 'evt_' || md5(n::text), 'invoice.paid', 'c', gen_random_uuid(), n::text, at, at
			FROM generate_series(1, $1) n, LATERAL (SELECT now() - interval '90 minutes' - ($1 - n) * interval '4 seconds' AS at) t`,
			[completed],
		);
		// What autovacuum does by and by, and never quite in time.
		await admin.query(`SELECT brin_summarize_new_values('${schema}.n8n_idempotency_claims_by_age')`);
		await admin.query(`ANALYZE ${claims}`);
	});
	afterAll(async () => {
		await store.close();
		await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
		await admin.end();
		await server.stop();
	});

	const floor = async (): Promise<{ since: number; lowered: number }> => {
		const { rows } = await admin.query<{ since: number; lowered: number }>(
			`SELECT extract(epoch FROM since)::float8 * 1000 AS since, lowered::int FROM ${schema}.n8n_idempotency_floor`,
		);
		return rows[0] as { since: number; lowered: number };
	};
	/** As old as that, by its first delivery; its lease is over, or its wait. */
	const unfinished = async (eventId: string, state: 'p' | 'f', age: string, scope = 'workflow:1'): Promise<void> => {
		await admin.query(
			`INSERT INTO ${claims} (scope, provider, event_id, state, owner, execution_id, first_seen_at, lease_until, next_attempt_at)
			VALUES ($4, 'stripe', $1, $2::"char", gen_random_uuid(), 'exec 1', now() - $3::interval,
				CASE WHEN $2 = 'p' THEN now() END, CASE WHEN $2 = 'f' THEN now() END)`,
			[eventId, state, age, scope],
		);
	};
	const recover = async (): Promise<string[]> => {
		const found = await store.recover(search());
		for (const { key, owner, fence } of found as Array<Recovered & { owner: string; fence: string }>) {
			await store.settle([{ key, owner, fence, to: { state: 'completed' } }]);
		}
		return found.map(({ key: { eventId } }) => eventId);
	};
	/** Blocks that the statement has read, by the server's own count; what it did is undone. */
	const blocksRead = async (sql: string, values: readonly unknown[]): Promise<{ blocks: number; plan: string }> => {
		await admin.query('BEGIN');
		const { rows } = await admin.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, BUFFERS) ${sql}`, [...values]);
		await admin.query('ROLLBACK');
		const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
		const [, hit = '0', read = '0'] = /Buffers: shared (?:hit=(\d+))?\s*(?:read=(\d+))?/.exec(plan) ?? [];
		return { blocks: Number(hit) + Number(read), plan };
	};

	it('the first recovery finds what was left behind long ago, and raises the floor', async () => {
		await unfinished('stale for days', 'p', '7 days');
		await unfinished('failed for days', 'f', '3 days');
		expect((await floor()).since).toBe(Number.NEGATIVE_INFINITY);
		expect(await recover()).toEqual(['stale for days', 'failed for days']);
		// What it handed out was unfinished to the end, so only the next one knows that it is done.
		expect(await recover()).toEqual([]);
		const { since } = await floor();
		expect(since).toBeLessThan(Date.now() - 3_600_000 + 60_000);
		expect(since).toBeGreaterThan(Date.now() - 2 * 3_600_000);
	});

	it('from then on it reads a small part of the table, whether statistics are fresh or not', async () => {
		for (const [n, age] of ['50 minutes', '20 minutes', '1 minute'].entries()) await unfinished(`young ${n}`, 'p', age);
		const { rows } = await admin.query<{ blocks: number }>(`SELECT pg_relation_size('${claims}')::int / 8192 AS blocks`);
		const all = rows[0]?.blocks ?? 0;
		const { owners, ...rest } = search();
		const wire = { stale: true, failed: true, tests: false, scope: null, provider: null, most: rest.limit, lease_ms: 1000 };
		const statements = {
			recover: [JSON.stringify({ ...wire, on_hold: false }), JSON.stringify(owners)],
			list: ['p', null, null, null, null, null, 'exec 1', true, 100],
			floor_raise: ['-infinity'],
		} as const;
		const report: string[] = [];
		for (const statistics of ['old statistics', 'fresh statistics']) {
			if (statistics === 'fresh statistics') await admin.query(`ANALYZE ${claims}`);
			for (const [name, values] of Object.entries(statements)) {
				const { blocks, plan } = await blocksRead(tables.sql(name as keyof typeof statements), values);
				report.push(`${name}, ${statistics}: ${blocks} blocks of ${all}`);
				expect(plan).toContain('Bitmap Index Scan on n8n_idempotency_claims_by_age');
				expect(plan).not.toMatch(/Seq Scan on n8n_idempotency_claims\b/);
				expect(blocks, plan).toBeLessThan(all / 10);
			}
		}
		console.log(report.join('\n'));
		const found = await store.findByExecution({ executionId: 'exec 1', unfinished: true, limit: 10 });
		expect(found.map(({ key: { eventId } }) => eventId)).toEqual(['young 2', 'young 1', 'young 0']);
		expect(await recover()).toEqual(['young 0', 'young 1', 'young 2']);
	});

	it('what a person makes unfinished again is found, however old it is', async () => {
		const old = { scope: 'workflow:1', provider: 'stripe' };
		const ids = ['reopened', 'resolved'];
		for (const eventId of ids) {
			await unfinished(eventId, 'p', '5 days');
			await admin.query(`UPDATE ${claims} SET state = 'u', lease_until = NULL WHERE event_id = $1`, [eventId]);
		}
		await recover();
		const { since, lowered } = await floor();
		const [reopened] = await store.reopen([
			{ key: { ...old, eventId: 'reopened' }, owner: token(), reason: 'x', leaseMs: 1, executionId: 'exec 2' },
		]);
		expect(reopened?.verdict).toBe('reopened');
		expect(await store.findByExecution({ executionId: 'exec 2', unfinished: true, limit: 10 })).toHaveLength(1);
		const to = { state: 'failed', retryAfterMs: 0 } as const;
		const [resolved] = await store.resolve([{ key: { ...old, eventId: 'resolved' }, fence: null, to, reason: 'x' }]);
		expect(resolved?.verdict).toBe('resolved');
		expect((await floor()).since).toBeLessThan(since);
		expect((await floor()).lowered).toBe(lowered + 2);
		const found: string[] = [];
		// Its lease is a millisecond; each look finds what is due by the server's clock.
		for (let looks = 0; looks < 1000 && found.length < 2; looks++) found.push(...(await recover()));
		expect(found.sort()).toEqual(ids);
		await recover();
		expect((await floor()).since).toBeGreaterThan(Date.now() - 2 * 3_600_000);
	});

	it('a test that was left behind does not keep the floor down, and is looked for within a day', async () => {
		await unfinished('test of the day before', 'p', '2 days', 'test:workflow:1');
		await unfinished('test of today', 'p', '3 hours', 'test:workflow:1');
		await admin.query(`UPDATE ${schema}.n8n_idempotency_floor SET since = '-infinity'`);
		expect(await recover()).toEqual([]);
		expect((await floor()).since).toBeGreaterThan(Date.now() - 2 * 3_600_000);
		for (const tests of [{ scope: 'test:workflow:1' }, { tests: true }]) {
			const found = await store.recover({ ...search(), ...tests, leaseMs: 1 });
			expect(found.map(({ key: { eventId } }) => eventId)).toEqual(['test of today']);
			await admin.query(`UPDATE ${claims} SET lease_until = now() WHERE event_id = 'test of today'`);
		}
	});

	it('a recovery beside a person who has not committed yet neither waits nor overlooks what he reopens', async () => {
		const key = { scope: 'workflow:1', provider: 'stripe', eventId: 'undecided' };
		await unfinished(key.eventId, 'p', '4 days');
		await admin.query(`UPDATE ${claims} SET state = 'd', lease_until = NULL WHERE event_id = 'undecided'`);
		const person = new pg.Client(server.url);
		await person.connect();
		await person.query('BEGIN');
		const order = { ord: 0, scope: key.scope, provider: key.provider, event_id: key.eventId, owner: token(), lease_ms: 1 };
		await person.query(tables.sql('reopen'), [JSON.stringify([order]), 1, '1000']);
		expect(await recover()).toEqual([]);
		await person.query('COMMIT');
		await person.end();
		const found: string[] = [];
		for (let looks = 0; looks < 1000 && found.length === 0; looks++) found.push(...(await recover()));
		expect(found).toEqual(['undecided']);
	});

	it('the floor stays below what is not committed, also where it cannot be seen since when', async () => {
		const bound = async (client: pg.Client): Promise<number> => {
			const { rows } = await client.query<{ ms: number }>(
				`SELECT extract(epoch FROM bound::timestamptz)::float8 * 1000 AS ms FROM (${tables.sql('floor_bound')}) b`,
			);
			return rows[0]?.ms ?? Number.NaN;
		};
		const anHourAgo = Date.now() - 3_600_000;
		expect(Math.abs((await bound(admin)) - anHourAgo)).toBeLessThan(60_000);

		const writer = new pg.Client(server.url);
		await writer.connect();
		const begin = async (): Promise<void> => {
			await writer.query('BEGIN');
			await writer.query(`UPDATE ${claims} SET error = NULL WHERE event_id = 'undecided'`);
		};
		// Of a role that may not see what others do.
		const role = `gate_reader_${randomBytes(4).toString('hex')}`;
		await admin.query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
		await begin();
		await admin.query(`SET ROLE ${role}`);
		expect(await bound(admin)).toBe(Number.NEGATIVE_INFINITY);
		await admin.query('RESET ROLE');
		expect(Math.abs((await bound(admin)) - anHourAgo)).toBeLessThan(60_000);
		// A transaction whose client is gone and that waits for the second phase of its commit.
		await writer.query("PREPARE TRANSACTION 'gate'");
		expect(await bound(admin)).toBe(Number.NEGATIVE_INFINITY);
		const before = await floor();
		await recover();
		expect(await floor()).toEqual(before);
		await writer.query("COMMIT PREPARED 'gate'");
		await writer.end();
		await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
	});
});

function search(): RecoverySearch {
	return {
		which: 'both',
		limit: 100,
		owners: Array.from({ length: 100 }, token),
		scope: null,
		provider: null,
		leaseMs: 600_000,
		maxAttempts: null,
		unfinished: 'take_over',
		executionId: null,
	};
}

function token(): string {
	return randomBytes(16).toString('hex');
}
