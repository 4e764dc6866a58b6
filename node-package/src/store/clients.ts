/**
 * The little that a store needs of a driver. A `pg` client fits `SqlClient` as it is, and so does a client in the middle
 * of the application's own transaction: then the claim commits together with the business rows.
 */
export interface SqlClient {
	query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: ReadonlyArray<Record<string, unknown>> }>;
}

/** Hands out connections. `pg.Pool` needs two lines of adapter (`nodes/IdempotencyGate/connect/postgres.ts`). */
export interface SqlClients {
	/** Rejects when no connection is free within the pool's own deadline. */
	acquire(): Promise<{
		readonly client: SqlClient;
		/** Give the connection back; with `broken`, close it instead: its state is unknown. */
		release(broken?: boolean): void;
	}>;
	/** Closes all connections. */
	close(): Promise<void>;
}
