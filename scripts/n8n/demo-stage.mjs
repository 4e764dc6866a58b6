/** What the demonstration and the screenshots stand on: everything set up and built, PostgreSQL and n8n running. */
import { createDatabase, postgresCredential } from '../setup/databases.mjs';
import { startPostgres } from '../setup/postgres.mjs';
import { step } from '../setup/progress.mjs';
import { buildPackage, packPackage, setUpN8n, setUpRepository } from '../setup/tools.mjs';
import { startN8n } from './server.mjs';

/**
 * @typedef {object} DemoStage
 * @property {import('./server.mjs').N8nServer} n8n
 * @property {string} version       of n8n
 * @property {{ version: string, via: string }} server  the PostgreSQL
 * @property {string} databaseUrl   of the gate's database
 * @property {object} credential    the same for n8n's Postgres credential
 */

/**
 * Each thing that was started is handed to `undo` at once, so that a caller who is interrupted can end what is there.
 * @param {(action: () => Promise<unknown>) => void} undo  to be called in reverse order
 * @returns {Promise<DemoStage>}
 */
export async function openDemoStage(undo) {
	await setUpRepository();
	const { node, bin, version } = await setUpN8n();
	await buildPackage();
	const tarball = await packPackage();

	const server = await step('PostgreSQL', 'some seconds', () => startPostgres());
	undo(() => server.stop());
	const own = await createDatabase(server.url, 'n8n');
	undo(() => own.drop());
	const gate = await createDatabase(server.url, 'demo');
	undo(() => gate.drop());

	const n8n = await step(`n8n ${version}`, 'about 20 seconds', () => startN8n({ node, bin, databaseUrl: own.url, tarball, port: 5678 }));
	undo(() => n8n.stop());
	return { n8n, version, server, databaseUrl: gate.url, credential: postgresCredential(gate.url) };
}
