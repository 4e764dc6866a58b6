/** What stands in a database, for tests that say that nothing was written. */
import type { Pool } from 'pg';

/** Number of rows in every table of the database, whatever their names, so that no table can be forgotten. */
export async function rowCounts(database: Pool): Promise<Record<string, number>> {
	const tables = await database.query<{ name: string }>(
		`SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
		WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
	);
	const counts: Record<string, number> = {};
	for (const { name } of tables.rows) {
		const { rows } = await database.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${name}`);
		counts[name] = rows[0]?.n ?? 0;
	}
	return counts;
}

/** Rows that the gate holds for one event id, over all scopes and providers. */
export async function claimsOf(database: Pool, eventId: string): Promise<number> {
	const { rows } = await database.query<{ n: number }>(
		'SELECT count(*)::int AS n FROM n8n_idempotency_claims WHERE event_id = $1',
		[eventId],
	);
	return rows[0]?.n ?? 0;
}
