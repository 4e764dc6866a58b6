/** The world in which the store laws are run on PostgreSQL. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { createPostgresStore, type PostgresStoreOptions } from '../../node-package/src/store/postgres';
import type { SqlClients } from '../../node-package/src/store/clients';
import type { Store } from '../../node-package/src/store/store';
import type { OpenOptions, OpenTransaction, World } from '../../node-package/src/testing/store-laws';
import { pgClients } from '../harness/pg-clients';
import { LossyProxy } from './lossy-proxy';

export interface PostgresWorld extends World {
	/** Closes what a law has opened. */
	tidy(): Promise<void>;
	/** How many deadlocks the server has resolved since the world was opened. They are retried, so no law sees them. */
	deadlocks(): Promise<number>;
	close(): Promise<void>;
}

/** Works in a schema of its own, and drops it in the end: the server may be somebody else's. */
export async function openPostgresWorld(url: string): Promise<PostgresWorld> {
	const schema = `gate_laws_${randomUUID().replaceAll('-', '')}`;
	const admin = new pg.Pool({ connectionString: url, max: 4 });
	const place = { schema };
	const schemas = [schema];
	const open = new Set<() => Promise<void>>();
	let scopes = 0;

	const tidy = async (): Promise<void> => {
		const closing = [...open];
		open.clear();
		await Promise.all(closing.map(async (close) => await close()));
	};
	const remember = (store: Store): Store => {
		open.add(async () => await store.close());
		return store;
	};
	const storeOver = (clients: SqlClients, options: PostgresStoreOptions): Store =>
		remember(createPostgresStore(clients, { ...place, ...options }));
	const openStore = ({ lanes = 1, isolation, ...rest }: OpenOptions = {}): Store => {
		const defaults = isolation === undefined ? {} : { options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}` };
		return storeOver(pgClients({ connectionString: url, max: lanes + 1, ...defaults }), { lanes, patienceMs: 60_000, ...rest });
	};

	const first = createPostgresStore(pgClients({ connectionString: url }), place);
	await first.prepare();
	await first.close();
	const deadlocksBefore = await deadlocks(admin);
	const { rows } = await admin.query<{ version: string }>("SELECT current_setting('server_version') AS version");

	return {
		name: `PostgreSQL ${rows[0]?.version}`,
		lacks: {},
		newScope: () => `scope:${++scopes}`,
		open: async (options) => openStore(options),
		now: async () => {
			const now = await admin.query<{ ms: number }>('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms');
			return now.rows[0]?.ms ?? Number.NaN;
		},
		openLossy: async () => {
			const proxy = await LossyProxy.to(new URL(url));
			open.add(async () => await proxy.close());
			const through = new URL(url);
			through.hostname = '127.0.0.1';
			through.port = String(proxy.port);
			const store = storeOver(pgClients({ connectionString: through.href, max: 2 }), { lanes: 1 });
			return { store, loseAnswers: (count) => proxy.loseAnswers(count), lost: () => proxy.lost };
		},
		holdOpen: async (asks) => {
			const client = new pg.Client(url);
			client.on('error', () => {});
			await client.connect();
			await client.query('BEGIN');
			// An application's own transaction: its client is handed in, and the claim commits with it.
			const store = createPostgresStore(withinTransaction(client), place);
			await store.claim(asks);
			return transaction(client, store, admin);
		},
		waiting: async () => {
			// By the tables that it has in hand: of its text the server shows only the beginning.
			const waiting = await admin.query<{ n: number }>(
				`SELECT count(*)::int AS n FROM pg_stat_activity activity WHERE wait_event_type = 'Lock' AND EXISTS (
					SELECT FROM pg_locks held JOIN pg_class ON pg_class.oid = held.relation
					WHERE held.pid = activity.pid AND held.granted AND relnamespace = $1::regnamespace)`,
				[schema],
			);
			return waiting.rows[0]?.n ?? 0;
		},
		remove: async ({ scope, provider, eventId }) => {
			const table = `"${schema}"."n8n_idempotency_claims"`;
			await admin.query(`DELETE FROM ${table} WHERE scope = $1 AND provider = $2 AND event_id = $3`, [scope, provider, eventId]);
		},
		freshPlace: async () => {
			const fresh = `${schema.slice(0, 50)}_${schemas.length}`;
			schemas.push(fresh);
			return { open: async () => storeOver(pgClients({ connectionString: url, max: 2 }), { schema: fresh, lanes: 1 }) };
		},
		passTime: async (ms) => {
			const by = "interval '1 millisecond' * $1";
			const [claims, outbox] = ['claims', 'outbox'].map((table) => `"${schema}"."n8n_idempotency_${table}"`);
			await admin.query(`UPDATE ${claims} SET lease_until = lease_until - ${by}, next_attempt_at = next_attempt_at - ${by} WHERE state IN ('p', 'f')`, [ms]);
			await admin.query(`UPDATE ${outbox} SET lease_until = lease_until - ${by}, available_at = available_at - ${by} WHERE state IN ('p', 'l')`, [ms]);
		},
		writePosition: async () => {
			const position = await admin.query<{ bytes: string }>("SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes");
			return BigInt(position.rows[0]?.bytes ?? 0);
		},
		tidy,
		deadlocks: async () => (await deadlocks(admin)) - deadlocksBefore,
		close: async () => {
			await tidy();
			for (const name of schemas) await admin.query(`DROP SCHEMA IF EXISTS "${name}" CASCADE`);
			await admin.end();
		},
	};
}

async function deadlocks(admin: pg.Pool): Promise<number> {
	const { rows } = await admin.query<{ n: number }>(
		'SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()',
	);
	return rows[0]?.n ?? 0;
}

function withinTransaction(client: pg.Client): SqlClients {
	return {
		acquire: async () => ({
			client: { query: async (text, values) => await client.query<Record<string, unknown>>(text, values && [...values]) },
			release: () => {},
		}),
		close: async () => {},
	};
}

async function transaction(client: pg.Client, store: Store, admin: pg.Pool): Promise<OpenTransaction> {
	const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
	const end = async (how: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
		await client.query(how);
		await client.end();
	};
	return {
		store,
		commit: async () => await end('COMMIT'),
		rollback: async () => await end('ROLLBACK'),
		kill: async () => {
			await admin.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
		},
	};
}
