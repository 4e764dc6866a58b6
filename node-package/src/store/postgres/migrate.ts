import { StoreError } from '../../errors';
import type { SqlClient, SqlClients } from '../clients';
import { problemOf } from './problems';
import { type Relation, setupSql, type Tables } from './tables';

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
		if (refusedRight && isWhole(tables, before)) return;
		throw refusedRight ? mayNotCreate(tables, before.role, cause) : cause;
	}
	const after = await inspect(client, tables);
	await isUpToDate(client, tables, after);
	checkColumns(tables, after, (name) => COLUMNS[name].added);
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

const TABLES = ['claims', 'guards', 'payloads', 'subjects', 'floor', 'outbox', 'dead_letters', 'migrations'] as const;
const SEQUENCES = ['fence', 'outbox_id'] as const;

interface Inspection {
	readonly standby: boolean;
	readonly role: string;
	readonly schemaExists: boolean;
	readonly relations: Readonly<Record<string, Facts>>;
}

interface Facts {
	/** `pg_class.relkind`: r and p are tables, S is a sequence. */
	readonly kind: string;
	/** p: permanent, u: unlogged, emptied by a crash. */
	readonly persistence: string;
	readonly usable: boolean;
	readonly writable: boolean;
	readonly columns: readonly string[];
}

async function inspect(client: SqlClient, tables: Tables): Promise<Inspection> {
	const wanted = [...TABLES, ...SEQUENCES].map((name) => tables.name(name)).join(',');
	const { rows } = await client.query(tables.sql('inspect'), [tables.schema, wanted]);
	const row = rows[0] ?? {};
	return {
		standby: row['standby'] === true,
		role: String(row['role']),
		schemaExists: row['schema_exists'] === true,
		relations: JSON.parse(String(row['relations'])) as Record<string, Facts>,
	};
}

/** Throws where a relation is in the way or cannot serve: no migration would help. */
async function isUpToDate(client: SqlClient, tables: Tables, inspection: Inspection): Promise<boolean> {
	checkForm(tables, inspection);
	if (!isWhole(tables, inspection)) return false;
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

/** Whether all is there that the statements name, but for our notes. */
function isWhole(tables: Tables, { relations }: Inspection): boolean {
	const there = [...TABLES, ...SEQUENCES].every((name) => name === 'migrations' || relations[tables.name(name)]);
	return there && TABLES.every((name) => lacking(relations[tables.name(name)], COLUMNS[name].added).length === 0);
}

/**
 * What the statements name. A table of somebody else with our name lacks at least one of `own`; one of ours that was made
 * by an earlier version lacks some of `added`, and a migration adds them.
 */
const COLUMNS: Readonly<Record<(typeof TABLES)[number], Readonly<Record<'own' | 'added', readonly string[]>>>> = {
	claims: {
		own: [
			...['fence', 'first_seen_at', 'claimed_at', 'lease_until', 'next_attempt_at', 'completed_at', 'attempt', 'state'],
			...['owner', 'scope', 'provider', 'event_id', 'event_type', 'body_digest', 'execution_id', 'error', 'result'],
		],
		added: ['stage', 'hold', 'max_attempts', 'guards_lost', 'subject_key', 'subject_version'],
	},
	guards: { own: ['version', 'kind', 'scope', 'provider', 'guard_key', 'holder_provider', 'holder_event_id'], added: [] },
	payloads: { own: ['scope', 'provider', 'event_id', 'keep', 'headers', 'body'], added: [] },
	subjects: { own: ['scope', 'subject_key', 'version'], added: [] },
	floor: { own: ['since', 'lowered'], added: [] },
	outbox: {
		own: [
			...['id', 'fence', 'created_at', 'available_at', 'lease_until', 'sent_at', 'owner', 'attempt', 'state', 'scope'],
			...['message_key', 'topic', 'ordering_key', 'body', 'error', 'provider', 'event_id'],
		],
		added: [],
	},
	dead_letters: { own: ['id', 'fence', 'scope', 'provider', 'event_id'], added: [] },
	migrations: { own: ['number', 'name'], added: [] },
};

function lacking(found: Facts | undefined, columns: readonly string[]): string[] {
	return columns.filter((column) => found && !found.columns.includes(column));
}

function checkForm(tables: Tables, inspection: Inspection): void {
	const { relations, role } = inspection;
	for (const sequence of SEQUENCES) {
		const found = relations[tables.name(sequence)];
		if (found && found.kind !== 'S') throw foreign(tables, sequence, 'it is not a sequence');
		if (found && !found.usable) throw noRights(tables, tables.name(sequence), role);
	}
	checkColumns(tables, inspection, (name) => COLUMNS[name].own);
	for (const table of TABLES) {
		const found = relations[tables.name(table)];
		if (!found || table === 'migrations') continue;
		if (found.persistence !== 'p') throw volatile(tables, table);
		if (!found.usable || !found.writable) throw noRights(tables, tables.name(table), role);
	}
}

function checkColumns(tables: Tables, { relations }: Inspection, columns: (name: (typeof TABLES)[number]) => readonly string[]): void {
	for (const table of TABLES) {
		const found = relations[tables.name(table)];
		if (found && !['r', 'p'].includes(found.kind)) throw foreign(tables, table, 'it is not a table');
		const missing = lacking(found, columns(table));
		if (missing.length > 0) throw foreign(tables, table, `it lacks the columns ${missing.join(', ')}`);
	}
}

function onStandby(): StoreError {
	return new StoreError(
		'store_misconfigured',
		'The Postgres store is a standby: its copy may be behind, and it accepts no claims',
		'Point the credential to the primary server.',
	);
}

function foreign(tables: Tables, relation: Relation, why: string): StoreError {
	return new StoreError(
		'store_misconfigured',
		`There is a relation ${tables.schema}.${tables.name(relation)} that is not the gate's: ${why}`,
		'Choose another table prefix or schema, or rename the relation that is in the way.',
	);
}

function volatile(tables: Tables, relation: Relation): StoreError {
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
		`Tables of the gate are missing or older than it, and the role '${role}' may not make them in schema '${tables.schema}'`,
		`An administrator can run this once:\n\n${setupSql({ schema: tables.schema, prefix: tables.prefix, role })}`,
		{ cause },
	);
}
