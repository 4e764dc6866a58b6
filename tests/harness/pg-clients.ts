import pg from 'pg';
import type { SqlClients } from '../../node-package/src/store/clients';

/** `SqlClients` over a `pg.Pool`: what an application writes to use the gate with its own pool. */
export function pgClients(config: pg.PoolConfig): SqlClients {
	const pool = new pg.Pool(config);
	// A connection that breaks while idle is dropped by the pool; without a listener it would end the process.
	pool.on('error', () => {});
	return {
		async acquire() {
			const client = await pool.connect();
			return {
				client: { query: async (text, values) => await client.query<Record<string, unknown>>(text, values && [...values]) },
				release: (broken) => client.release(broken),
			};
		},
		close: async () => await pool.end(),
	};
}
