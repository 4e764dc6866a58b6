import { StoreError } from '../../../src/index';
import type { PostgresCredential } from './credential';

/** Why there is no connection, in words, with the credential to look at. */
export function connectionError(cause: unknown, credential: PostgresCredential): StoreError {
	const { code, message } = firstOf(cause);
	const { host, port, name } = credential;
	const known = (code !== undefined && BY_CODE[code]) || BY_MESSAGE.find(({ pattern }) => pattern.test(message));
	const { why, kind, check } = known || { why: message, kind: 'store_unavailable' as const, check: 'host, port and TLS' };
	const help = `Check ${check} in the credential '${name}'. Trying again is safe: what was done before is not done twice.`;
	return new StoreError(kind, `Could not reach the Postgres store: ${why} (${host}:${port})`, help, { cause });
}

interface Reason {
	readonly why: string;
	readonly kind: StoreError['code'];
	readonly check: string;
}

const unreachable = (why: string): Reason => ({ why, kind: 'store_unavailable', check: 'host and port' });
const refused = (why: string, check: string): Reason => ({ why, kind: 'store_misconfigured', check });

/** By the code of Node.js, of TLS or of Postgres. */
const BY_CODE: Readonly<Record<string, Reason>> = {
	ECONNREFUSED: unreachable('connection refused'),
	ECONNRESET: unreachable('connection reset'),
	EHOSTUNREACH: unreachable('no route to the host'),
	ENETUNREACH: unreachable('no route to the network'),
	ENOTFOUND: unreachable('host not found'),
	EAI_AGAIN: unreachable('host not found'),
	ETIMEDOUT: unreachable('no answer'),
	DEPTH_ZERO_SELF_SIGNED_CERT: refused('the certificate of the server is not trusted', "'SSL' and 'Ignore SSL Issues'"),
	SELF_SIGNED_CERT_IN_CHAIN: refused('the certificate of the server is not trusted', "'SSL' and 'Ignore SSL Issues'"),
	UNABLE_TO_VERIFY_LEAF_SIGNATURE: refused('the certificate of the server is not trusted', "'SSL' and 'Ignore SSL Issues'"),
	'28P01': refused('the server does not accept this user and password', 'user and password'),
	'28000': refused('the server does not accept this user', "user, host and 'SSL'"),
	'3D000': refused('there is no such database', 'the name of the database'),
	'53300': { why: 'the server has no free connection', kind: 'store_busy', check: 'the connection limit of the server' },
	'57P03': unreachable('the server is starting up'),
};

/** What pg says without a code. */
const BY_MESSAGE: ReadonlyArray<Reason & { pattern: RegExp }> = [
	{ ...unreachable('no answer within 5 seconds'), pattern: /due to connection timeout/ },
	{ ...unreachable('the connection was closed'), pattern: /^Connection terminated/ },
	{
		pattern: /timeout exceeded when trying to connect/,
		...{ why: 'no connection became free within 5 seconds', kind: 'store_busy', check: 'how busy the database is, and host and port' },
	},
	{ ...refused('the server does not speak TLS', "'SSL'"), pattern: /does not support SSL/ },
	{ ...refused('the SSH server does not accept this login', 'the SSH login'), pattern: /authentication methods failed/ },
	{ ...unreachable('the SSH server could not open the connection'), pattern: /Channel open failure/ },
];

/** `localhost` is tried by IPv6 and IPv4, and both failures come as one. */
function firstOf(cause: unknown): { code: string | undefined; message: string } {
	const one: unknown = cause instanceof AggregateError ? (cause.errors[0] as unknown) : cause;
	const { code, message } = (one ?? {}) as { code?: unknown; message?: unknown };
	return {
		code: typeof code === 'string' ? code : undefined,
		message: typeof message === 'string' && message !== '' ? message : 'unknown reason',
	};
}
