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

export interface ClaimRow {
	/** First letter: processing, failed, uncertain, completed, dead. */
	readonly state: string;
	readonly attempt: number;
	readonly stage: string | null;
	readonly error: string | null;
}

/** The only record of an event id; `null` where there is none. */
export async function recordOf(database: Pool, eventId: string): Promise<ClaimRow | null> {
	const { rows } = await database.query<ClaimRow>('SELECT state, attempt, stage, error FROM n8n_idempotency_claims WHERE event_id = $1', [eventId]);
	if (rows.length > 1) throw new Error(`${rows.length} records of ${eventId}`);
	return rows[0] ?? null;
}

/** As if the owner had been silent for as long as its lease, and every wait were over. */
export async function passTime(database: Pool, eventId: string): Promise<void> {
	const over = (column: string) => `${column} = CASE WHEN ${column} IS NOT NULL THEN clock_timestamp() - interval '1 second' END`;
	await database.query(`UPDATE n8n_idempotency_claims SET ${over('lease_until')}, ${over('next_attempt_at')} WHERE event_id = $1`, [eventId]);
}
