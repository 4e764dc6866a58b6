import { StoreError } from '../../errors';
import { migrations, statements } from './generated/sql';

/** Where the store's tables are. */
export interface TableOptions {
	/** Default `public`. Created where it is missing. Letters, digits and underscore, at most 63. */
	readonly schema?: string;
	/** Begins the name of every table, sequence and index. Default `n8n_idempotency`. At most 40 characters. */
	readonly prefix?: string;
}

export type Statement = keyof typeof statements;

/** Tables and sequences. */
export type Relation =
	| 'claims'
	| 'guards'
	| 'payloads'
	| 'subjects'
	| 'floor'
	| 'outbox'
	| 'dead_letters'
	| 'migrations'
	| 'fence'
	| 'outbox_id';

/** The store's SQL with its place filled in. The files say `"gate"."claims"`, so that they are valid SQL in an editor. */
export class Tables {
	readonly schema: string;
	readonly prefix: string;
	readonly migrations: ReadonlyArray<{ readonly number: number; readonly name: string; readonly sql: string }>;
	private readonly texts: ReadonlyMap<Statement, string>;

	constructor({ schema = 'public', prefix = 'n8n_idempotency' }: TableOptions = {}) {
		this.schema = identifier('schema', schema, 63);
		this.prefix = identifier('table prefix', prefix, 40);
		this.migrations = migrations.map((migration) => ({ ...migration, sql: this.place(migration.sql) }));
		const names = Object.keys(statements) as Statement[];
		this.texts = new Map(names.map((name) => [name, this.place(statements[name])]));
	}

	sql(statement: Statement): string {
		return this.texts.get(statement) as string;
	}

	/** Full name within the schema, e.g. `n8n_idempotency_claims`. */
	name(relation: Relation): string {
		return `${this.prefix}_${relation}`;
	}

	/** Only placeholders are replaced, in one pass, and what replaces them cannot hold a quote: `identifier` has seen to that. */
	private place(sql: string): string {
		return sql.replaceAll(/"gate"\."(\w+)"|"gate_(?!role")(\w+)"|"gate"/g, (_, relation?: string, index?: string) => {
			if (relation !== undefined) return `"${this.schema}"."${this.prefix}_${relation}"`;
			return index !== undefined ? `"${this.prefix}_${index}"` : `"${this.schema}"`;
		});
	}
}

/**
 * The whole set-up as one script, for a database administrator where the store's own role may not create tables.
 * `role`: who the tables are for; without it no rights are given.
 */
export function setupSql(options: TableOptions & { readonly role?: string } = {}): string {
	const tables = new Tables(options);
	const record = ({ number, name }: { number: number; name: string }) =>
		tables.sql('migrations_record').replace('$1', String(number)).replace('$2', `'${name}'`);
	const { role } = options;
	return [
		'BEGIN',
		...(tables.schema === 'public' ? [] : [tables.sql('schema_create')]),
		tables.sql('migrations_create'),
		...tables.migrations.flatMap((migration) => [migration.sql, record(migration)]),
		...(role === undefined ? [] : [tables.sql('grants').replaceAll('"gate_role"', quoted(role))]),
		'COMMIT',
		'',
	].join(';\n');
}

function identifier(what: string, name: string, limit: number): string {
	// PostgreSQL keeps schemas that begin with pg_ for itself; `pg_temp` would even be gone with the connection.
	if (/^(?!pg_)[A-Za-z_][A-Za-z0-9_]*$/.test(name) && name.length <= limit) return name;
	throw new StoreError(
		'store_misconfigured',
		`'${name.slice(0, 80)}' cannot be used as ${what}`,
		`Use letters, digits and underscores, at most ${limit}, and begin with a letter, but not with pg_.`,
	);
}

/** A role's name comes from the database and may be any text. */
function quoted(role: string): string {
	return `"${role.replaceAll('"', '""')}"`;
}
