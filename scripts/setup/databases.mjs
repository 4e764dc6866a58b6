/** Databases of our own on a server, so that nothing meets what else lives there. */
import { randomBytes } from 'node:crypto';

/**
 * Creates an empty database with a name nobody has. `pg` comes with the repository's packages, hence the late import.
 *
 * @param {string} serverUrl  of a role that may create databases
 * @param {string} purpose    becomes part of the name
 * @returns {Promise<{ url: string, drop: () => Promise<void> }>}
 */
export async function createDatabase(serverUrl, purpose) {
	const name = `gate_${purpose}_${randomBytes(4).toString('hex')}`;
	await run(serverUrl, `CREATE DATABASE ${name}`);
	const url = new URL(serverUrl);
	url.pathname = `/${name}`;
	return { url: url.href, drop: () => run(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** What n8n's Postgres credential wants to know about a server. */
export function postgresCredential(databaseUrl) {
	const url = new URL(databaseUrl);
	return {
		host: url.hostname,
		port: Number(url.port || 5432),
		database: decodeURIComponent(url.pathname.slice(1)),
		user: decodeURIComponent(url.username),
		password: decodeURIComponent(url.password) || 'unused',
		maxConnections: 20,
		ssl: 'disable',
		allowUnauthorizedCerts: false,
		sshTunnel: false,
	};
}

async function run(url, sql) {
	const { default: pg } = await import('pg');
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	try {
		await client.query(sql);
	} finally {
		await client.end();
	}
}
