import { createHash } from 'node:crypto';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { createPostgresStore, type SqlClients, type Store } from '../../../src/index';
import { type PostgresCredential, sshOf, tlsOf } from './credential';
import { connectionError } from './connectionError';
import { type SshClients, SshTunnel } from './sshTunnel';

/** Where the tables are; absent parts are the store's own defaults. */
export interface Place {
	readonly schema?: string;
	readonly prefix?: string;
}

/**
 * The store behind a credential. One pool per credential and process, few connections whatever the credential's
 * "Maximum Number of Connections" says (n8n's default is 100): claims that come in together share a statement.
 */
export function postgresStore(credential: PostgresCredential, ssh: SshClients, place: Place): Store {
	const key = createHash('sha256').update(JSON.stringify([credential, place])).digest('hex');
	const known = stores.get(key);
	if (known) return known;
	const store = createPostgresStore(clientsOf(credential, ssh), place);
	stores.set(key, store);
	return store;
}

/** Entries are small and their connections close when idle, so they stay for the life of the process. */
const stores = new Map<string, Store>();

const SECOND = 1000;

function poolConfig(credential: PostgresCredential, ssh: SshClients): PoolConfig {
	const { host, port, database, user, password } = credential;
	return {
		...{ host, port, database, user, password },
		ssl: tlsOf(credential),
		application_name: 'n8n idempotency gate',
		// What the store asks at the same time beyond that waits a moment for one that is free.
		max: 4,
		// How long a claim waits for a free connection, or for a new one to be made.
		connectionTimeoutMillis: 5 * SECOND,
		// The last resort, for a server that went silent while tables are made. For claims the store is less patient.
		query_timeout: 30 * SECOND,
		idleTimeoutMillis: 60 * SECOND,
		keepAlive: true,
		// Idle connections do not keep n8n from ending.
		allowExitOnIdle: true,
		...(credential.sshTunnel === true && { stream: () => new SshTunnel(ssh, sshOf(credential)) }),
	};
}

function clientsOf(credential: PostgresCredential, ssh: SshClients): SqlClients {
	const pool = new Pool(poolConfig(credential, ssh));
	// A connection that breaks says so to whoever uses it, and the pool drops it. It also says so to everybody, idle or
	// not, and what nobody listens to would end the whole n8n.
	pool.on('error', () => {});
	pool.on('connect', (client) => client.on('error', () => {}));
	return {
		async acquire() {
			const client = await connect(pool, credential);
			return {
				// Without a name the statement is not kept by the server, so any pooler can be in between.
				client: { query: async (text, values) => await client.query<Record<string, unknown>>(text, values && [...values]) },
				release: (broken) => client.release(broken),
			};
		},
		close: async () => await pool.end(),
	};
}

async function connect(pool: Pool, credential: PostgresCredential): Promise<PoolClient> {
	try {
		return await pool.connect();
	} catch (cause) {
		throw connectionError(cause, credential);
	}
}
