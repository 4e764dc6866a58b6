import { StoreError } from '../../errors';
import type { SqlClient, SqlClients } from '../clients';
import { problemOf } from './problems';
import { setupSql, type Tables } from './tables';

/**
 * Makes the tables or brings them up to date. Forward only, one transaction, one process at a time. Two look-ups and
 * nothing else where all is there, so a role that may only read and write rows is enough from then on.
 */
export async function prepare(clients: SqlClients, tables: Tables): Promise<void> {
	const connection = await clients.acquire().catch((cause: unknown) => {
		throw problemOf(cause).error;
	});
	let broken = true;
	try {
		await prepareWith(connection.client, tables);
		broken = false;
	} catch (cause) {
		const problem = problemOf(cause);
		broken = problem.kind === 'lost';
		throw problem.error;
	} finally {
		connection.release(broken);
	}
}

async function prepareWith(client: SqlClient, tables: Tables): Promise<void> {
	const before = await inspect(client, tables);
	if (before.standby) throw onStandby();
	if (await isUpToDate(client, tables, before)) return;
	try {
		await migrate(client, tables, before);
	} catch (cause) {
		await client.query('ROLLBACK').catch(() => {});
		const refusedRight = (cause as { code?: unknown } | null)?.code === '42501';
		// The tables may be there without our notes about them: an administrator made them.
		if (refusedRight && missing(tables, before).length === 0) return;
		throw refusedRight ? mayNotCreate(tables, before.role, cause) : cause;
	}
	await isUpToDate(client, tables, await inspect(client, tables));
}

async function migrate(client: SqlClient, tables: Tables, { schemaExists }: Inspection): Promise<void> {
	await client.query('BEGIN');
	await client.query(tables.sql('patience'), ['20000']);
	await client.query(tables.sql('migrations_lock'));
	if (!schemaExists) await client.query(tables.sql('schema_create'));
	await client.query(tables.sql('migrations_create'));
	const applied = await appliedNumbers(client, tables);
	for (const { number, name, sql } of tables.migrations) {
		if (applied.has(number)) continue;
		await client.query(sql);
		await client.query(tables.sql('migrations_record'), [number, name]);
	}
	await client.query('COMMIT');
}

interface Inspection {
	readonly standby: boolean;
	readonly role: string;
	readonly schemaExists: boolean;
	readonly relations: Readonly<Record<string, Relation>>;
}

interface Relation {
	/** `pg_class.relkind`: r and p are tables, S is a sequence. */
	readonly kind: string;
	/** p: permanent, u: unlogged, emptied by a crash. */
	readonly persistence: string;
	readonly usable: boolean;
	readonly writable: boolean;
	readonly columns: readonly string[];
}

async function inspect(client: SqlClient, tables: Tables): Promise<Inspection> {
	const names = ['claims', 'guards', 'migrations', 'fence'] as const;
	const wanted = names.map((name) => tables.name(name)).join(',');
	const { rows } = await client.query(tables.sql('inspect'), [tables.schema, wanted]);
	const row = rows[0] ?? {};
	return {
		standby: row['standby'] === true,
		role: String(row['role']),
		schemaExists: row['schema_exists'] === true,
		relations: JSON.parse(String(row['relations'])) as Record<string, Relation>,
	};
}

/** Throws where a relation is in the way or cannot serve: no migration would help. */
async function isUpToDate(client: SqlClient, tables: Tables, inspection: Inspection): Promise<boolean> {
	checkForm(tables, inspection);
	if (missing(tables, inspection).length > 0) return false;
	const notes = inspection.relations[tables.name('migrations')];
	if (!notes) return false;
	if (!notes.usable) return true;
	const applied = await appliedNumbers(client, tables);
	return tables.migrations.every(({ number }) => applied.has(number));
}

async function appliedNumbers(client: SqlClient, tables: Tables): Promise<Set<number>> {
	const { rows } = await client.query(tables.sql('migrations_applied'));
	return new Set(rows.map((row) => Number(row['number'])));
}

function missing(tables: Tables, { relations }: Inspection): string[] {
	return (['claims', 'guards', 'fence'] as const).map((name) => tables.name(name)).filter((name) => !relations[name]);
}

/** What the statements name. A table of somebody else with our name lacks at least one of them. */
const COLUMNS = {
	claims: [
		...['fence', 'first_seen_at', 'claimed_at', 'lease_until', 'next_attempt_at', 'completed_at', 'attempt', 'state'],
		...['owner', 'scope', 'provider', 'event_id', 'event_type', 'body_digest', 'execution_id', 'error', 'result'],
	],
	guards: ['version', 'kind', 'scope', 'provider', 'guard_key', 'holder_provider', 'holder_event_id'],
	migrations: ['number', 'name'],
} as const;

function checkForm(tables: Tables, { relations, role }: Inspection): void {
	const fence = relations[tables.name('fence')];
	if (fence && fence.kind !== 'S') throw foreign(tables, 'fence', 'it is not a sequence');
	if (fence && !fence.usable) throw noRights(tables, tables.name('fence'), role);
	for (const relation of ['claims', 'guards', 'migrations'] as const) {
		const found = relations[tables.name(relation)];
		if (!found) continue;
		if (!['r', 'p'].includes(found.kind)) throw foreign(tables, relation, 'it is not a table');
		const lacking = COLUMNS[relation].filter((column) => !found.columns.includes(column));
		if (lacking.length > 0) throw foreign(tables, relation, `it lacks the columns ${lacking.join(', ')}`);
		if (relation === 'migrations') continue;
		if (found.persistence !== 'p') throw volatile(tables, relation);
		if (!found.usable || !found.writable) throw noRights(tables, tables.name(relation), role);
	}
}

function onStandby(): StoreError {
	return new StoreError(
		'store_misconfigured',
		'The Postgres store is a standby: its copy may be behind, and it accepts no claims',
		'Point the credential to the primary server.',
	);
}

function foreign(tables: Tables, relation: Parameters<Tables['name']>[0], why: string): StoreError {
	return new StoreError(
		'store_misconfigured',
		`There is a relation ${tables.schema}.${tables.name(relation)} that is not the gate's: ${why}`,
		'Choose another table prefix or schema, or rename the relation that is in the way.',
	);
}

function volatile(tables: Tables, relation: 'claims' | 'guards'): StoreError {
	const name = `${tables.schema}.${tables.name(relation)}`;
	return new StoreError(
		'store_misconfigured',
		`The table ${name} is unlogged: a crash of the server would empty it, and every event could be claimed again`,
		'Make it a logged table (SET LOGGED), or let the gate make its own under another table prefix.',
	);
}

function noRights(tables: Tables, name: string, role: string): StoreError {
	return new StoreError(
		'store_misconfigured',
		`The role '${role}' may not use ${tables.schema}.${name} of the Postgres store`,
		`An administrator can run this once:\n\n${setupSql({ schema: tables.schema, prefix: tables.prefix, role })}`,
	);
}

function mayNotCreate(tables: Tables, role: string, cause: unknown): StoreError {
	return new StoreError(
		'store_misconfigured',
		`The tables of the gate are missing, and the role '${role}' may not create them in schema '${tables.schema}'`,
		`An administrator can run this once:\n\n${setupSql({ schema: tables.schema, prefix: tables.prefix, role })}`,
		{ cause },
	);
}
