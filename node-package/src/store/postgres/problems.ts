import { StoreError } from '../../errors';

/** What an error of the driver means for the statement that met it. */
export type Problem =
	/** The server undid the statement because of other transactions: run it again, with the same owner tokens. */
	| { readonly kind: 'conflict'; readonly error: StoreError }
	/** The connection is gone or useless. The statement may have been carried out: ask again with the same owner tokens. */
	| { readonly kind: 'lost'; readonly error: StoreError }
	/** One key of the statement is to blame, but not which: a stuck lock, a text the database cannot store. */
	| { readonly kind: 'one_of_many'; readonly error: StoreError }
	| { readonly kind: 'final'; readonly error: StoreError };

export function problemOf(cause: unknown): Problem {
	if (cause instanceof StoreError) return { kind: 'final', error: cause };
	if (cause instanceof TypeError || cause instanceof SyntaxError || cause instanceof RangeError) {
		return { kind: 'final', error: new StoreError('store_unavailable', UNFORESEEN.message, UNFORESEEN.help, { cause }) };
	}
	const { code, message } = described(cause);
	if (code === undefined || !SQLSTATE.test(code)) return { kind: 'lost', error: unreachable(code, message, cause) };
	const rule = RULES.find(({ states }) => states.test(code)) ?? UNFORESEEN;
	// A message may hold what was sent (22001, 23505 do); the class of the error is all that people need.
	const error = new StoreError(rule.code, rule.message, `${rule.help} (SQLSTATE ${code})`, { cause });
	return { kind: rule.kind, error };
}

/** Classes of PostgreSQL's Appendix A. Node's own codes (`EPIPE`) have no such beginning. */
const SQLSTATE = /^(?:[0-7][0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/;

interface Rule {
	readonly states: RegExp;
	readonly kind: Problem['kind'];
	readonly code: StoreError['code'];
	readonly message: string;
	readonly help: string;
}

const again = 'Nothing is known about the claim. The event can be delivered again safely.';

/** The first that matches counts. */
const RULES: readonly Rule[] = [
	{
		// Serialization failure, deadlock, and our own "not whole": a guard without its event (see claim_fresh_guarded.sql).
		states: /^(40001|40P01|22012)$/,
		kind: 'conflict',
		code: 'store_busy',
		message: 'The Postgres store is busy: other transactions kept getting in the way',
		help: again,
	},
	{
		states: /^55P03$/,
		kind: 'one_of_many',
		code: 'store_busy',
		message: 'The Postgres store is busy: another transaction holds this key and does not end',
		help: `${again} If this stays, look for a session in state "idle in transaction" in pg_stat_activity.`,
	},
	{
		states: /^57014$/,
		kind: 'one_of_many',
		code: 'store_busy',
		message: 'The Postgres store is busy: the statement timeout of the server or role has passed',
		help: again,
	},
	{
		states: /^(53300|53400)$/,
		kind: 'final',
		code: 'store_busy',
		message: 'The Postgres store has no free connection',
		help: `${again} Raise the connection limit of the server, or use fewer connections elsewhere.`,
	},
	{
		states: /^(08...|57P0[1-5])$/,
		kind: 'lost',
		code: 'store_unavailable',
		message: 'The connection to the Postgres store was lost: the server is stopping or starting',
		help: again,
	},
	{
		states: /^(25006|25007)$/,
		kind: 'final',
		code: 'store_misconfigured',
		message: 'The Postgres store is read-only',
		help: 'A claim can only be decided on the primary server. Point the credential to it, not to a standby.',
	},
	{
		states: /^(42P01|3F000)$/,
		kind: 'final',
		code: 'store_misconfigured',
		message: 'The tables of the gate are missing in the Postgres store',
		help: 'They are made when the store is prepared. Were they dropped, or do schema and table prefix differ from then?',
	},
	{
		states: /^42501$/,
		kind: 'final',
		code: 'store_misconfigured',
		message: 'The role of the Postgres store may not do this',
		help: 'It needs SELECT, INSERT, UPDATE and DELETE on the tables of the gate and USAGE on its schema and sequence.',
	},
	{
		states: /^(42703|42P10|42804|42883|428..)$/,
		kind: 'final',
		code: 'store_misconfigured',
		message: "A table in the Postgres store has the gate's name but another form",
		help: 'Choose another table prefix, or rename the table that is in the way.',
	},
	{
		states: /^(28...|3D000)$/,
		kind: 'final',
		code: 'store_misconfigured',
		message: 'The Postgres store does not let us in',
		help: 'Check user, password, database and SSL in the credential.',
	},
	{
		states: /^(22...|23514|54000)$/,
		kind: 'one_of_many',
		code: 'store_refused_key',
		message: 'The Postgres store cannot hold this key or one of the texts beside it',
		help: 'A database whose encoding is not UTF8 cannot hold every text. Use a UTF8 database.',
	},
];

const UNFORESEEN: Omit<Rule, 'states'> = {
	kind: 'final',
	code: 'store_unavailable',
	message: 'The Postgres store answered with an error',
	help: again,
};

const NETWORK: Readonly<Record<string, string>> = {
	ECONNREFUSED: 'connection refused',
	ECONNRESET: 'connection reset',
	EPIPE: 'connection closed',
	ETIMEDOUT: 'no answer',
	ENOTFOUND: 'host not found',
	EAI_AGAIN: 'host not found',
	EHOSTUNREACH: 'no route to the host',
	ENETUNREACH: 'no route to the network',
};

function unreachable(code: string | undefined, message: string, cause: unknown): StoreError {
	const place = placeOf(cause);
	const where = place === null ? '' : ` (${place})`;
	if (/timeout|timed out/i.test(message) && code === undefined) {
		return new StoreError('store_busy', `The Postgres store did not answer in time${where}`, again, { cause });
	}
	const why = (code !== undefined && NETWORK[code]) || 'connection lost';
	const help = `${again} Check host, port and network of the credential, and whether the server is running.`;
	return new StoreError('store_unavailable', `Could not reach the Postgres store: ${why}${where}`, help, { cause });
}

/** `localhost` is tried by IPv6 and IPv4, and both failures come as one. */
function first(cause: unknown): unknown {
	return cause instanceof AggregateError && cause.errors.length > 0 ? cause.errors[0] : cause;
}

function described(cause: unknown): { code: string | undefined; message: string } {
	const { code, message } = (first(cause) ?? {}) as { code?: unknown; message?: unknown };
	return { code: typeof code === 'string' ? code : undefined, message: typeof message === 'string' ? message : '' };
}

function placeOf(cause: unknown): string | null {
	const { address, hostname, port } = (first(cause) ?? {}) as Record<string, unknown>;
	const host = typeof address === 'string' ? address : typeof hostname === 'string' ? hostname : null;
	return host === null ? null : typeof port === 'number' ? `${host}:${port}` : host;
}
