import type { SqlClients } from '../clients';
import type { Store } from '../store';
import { PostgresStore, type PostgresStoreOptions } from './postgres-store';

export type { PostgresStoreOptions } from './postgres-store';
export { setupSql, type TableOptions } from './tables';

/** A store in the PostgreSQL that `clients` reaches. It owns them: `close()` closes them. */
export function createPostgresStore(clients: SqlClients, options: PostgresStoreOptions = {}): Store {
	return new PostgresStore(clients, options);
}
