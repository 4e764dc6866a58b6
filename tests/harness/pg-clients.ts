import pg from 'pg';
import type { SqlClients } from '../../node-package/src/store/clients';

/** `SqlClients` over a `pg.Pool`: what an application writes to use the gate with its own pool. */
export function pgClients(config: pg.PoolConfig): SqlClients {
	const pool = new pg.Pool(config);
	// A connection that breaks is dropped. Without listeners, here for idle ones and below for lent ones, it would end the process.
	pool.on('error', () => {});
	return {
		async acquire() {
			const client = await pool.connect();
			client.on('error', ignore);
			return {
				client: { query: async (text, values) => await client.query<Record<string, unknown>>(text, values && [...values]) },
				release: (broken) => {
					client.off('error', ignore);
					client.release(broken);
				},
			};
		},
		close: async () => await pool.end(),
	};
}

/** The query under way rejects with the same error. */
function ignore(): void {}
