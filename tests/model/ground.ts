/** Real PostgreSQL for schedules: a schema of its own, clients, ways to lose them, and a hand on the clock. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { createPostgresStore } from '../../node-package/src/store/postgres';
import type { Store } from '../../node-package/src/store/store';
import { pgClients } from '../harness/pg-clients';
import { LossyProxy } from '../store/lossy-proxy';
import type { Ground } from './run';

export interface PostgresGround extends Ground {
	readonly admin: pg.Pool;
	readonly schema: string;
	close(): Promise<void>;
}

/** What may come between a client and its store. */
export type Between = (store: Store, ground: Pick<PostgresGround, 'admin' | 'schema'>) => Store;

export async function openGround(url: string, between: Between = (store) => store): Promise<PostgresGround> {
	const schema = `gate_model_${randomUUID().replaceAll('-', '')}`;
	const admin = new pg.Pool({ connectionString: url, max: 4 });
	const table = (name: string): string => `"${schema}"."n8n_idempotency_${name}"`;
	const place = { admin, schema };
	const open = (config: pg.PoolConfig = {}): Store => {
		const store = createPostgresStore(pgClients({ connectionString: url, max: 2, ...config }), { schema, lanes: 1, patienceMs: 60_000 });
		return between(store, place);
	};
	const clients: Store[] = [];
	const storeOf = (client: number): Store => (clients[client] ??= open());
	await storeOf(0).prepare();

	let proxy: LossyProxy | null = null;
	let lossy: Store | null = null;
	let scopes = 0;
	return {
		...place,
		store: storeOf,
		newScope: () => `schedule:${++scopes}`,
		lossy: async () => {
			if (lossy === null || proxy === null) {
				proxy = await LossyProxy.to(new URL(url));
				const through = new URL(url);
				through.hostname = '127.0.0.1';
				through.port = String(proxy.port);
				lossy = open({ connectionString: through.href });
			}
			const through = proxy;
			return { store: lossy, loseAnswers: (count) => through.loseAnswers(count) };
		},
		mortal: async () => {
			const name = `mortal ${randomUUID()}`;
			const store = open({ application_name: name, max: 1 });
			// Connected before it counts, or nothing would ever be sent.
			await store.find({ scope: 'warm', provider: 'up', eventId: name });
			return {
				store,
				drop: async () => {
					for (let turns = Math.floor(Math.random() * 4); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
					// The connections close when their last answer is in; nobody waits for that here.
					void store.close();
				},
				gone: async () => {
					for (;;) {
						const { rows } = await admin.query('SELECT FROM pg_stat_activity WHERE application_name = $1', [name]);
						if (rows.length === 0) return;
					}
				},
			};
		},
		passTime: async (scope, ms) => {
			await admin.query(
				`UPDATE ${table('claims')}
				SET lease_until = lease_until - interval '1 millisecond' * $2, next_attempt_at = next_attempt_at - interval '1 millisecond' * $2
				WHERE scope = $1 AND state IN ('p', 'f')`,
				[scope, ms],
			);
		},
		remove: async (scope, eventId) => {
			for (const name of ['claims', 'payloads']) {
				await admin.query(`DELETE FROM ${table(name)} WHERE scope = $1 AND ($2::text IS NULL OR event_id = $2)`, [scope, eventId]);
			}
		},
		close: async () => {
			for (const store of [...clients, ...(lossy ? [lossy] : [])]) await store?.close();
			await proxy?.close();
			await admin.query(`DROP SCHEMA "${schema}" CASCADE`);
			await admin.end();
		},
	};
}
