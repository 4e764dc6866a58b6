/**
 * `npm start`: a real n8n with the gate in it, a real PostgreSQL, one signed event delivered 50 times at the same moment.
 * Then the editor is yours until Ctrl-C.
 *
 *     npm start -- --once    ends after the table; the exit status is 0 only if exactly one delivery was claimed
 */
import { parseArgs } from 'node:util';
import { demonstrate } from './n8n/demonstration.mjs';
import { startN8n } from './n8n/server.mjs';
import { createDatabase, postgresCredential } from './setup/databases.mjs';
import { startPostgres } from './setup/postgres.mjs';
import { SetupError, step } from './setup/progress.mjs';
import { buildPackage, packPackage, setUpN8n, setUpRepository } from './setup/tools.mjs';

const undo = [];
let ending = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
	process.on(signal, () => {
		if (ending) process.exit(130);
		void end(signal === 'SIGINT' || signal === 'SIGHUP' ? 0 : 143);
	});
}

try {
	const once = readArguments();
	const stage = await setUp();
	const { text, ok } = await demonstrate(stage);
	console.log(text);
	if (once) await end(ok ? 0 : 1);
	else console.error('\nCtrl-C ends n8n and PostgreSQL and deletes what was made in them.');
} catch (error) {
	if (!ending) {
		console.error(`\n${error instanceof SetupError ? error.message : error.stack}`);
		await end(1);
	}
}

function readArguments() {
	try {
		return parseArgs({ options: { once: { type: 'boolean', default: false } } }).values.once;
	} catch (error) {
		throw new SetupError(`${error.message}\nUsage: npm start [-- --once]`);
	}
}

async function setUp() {
	console.error('Setting up. The first time takes about ten minutes; what is downloaded stays in .cache.');
	await setUpRepository();
	const { node, bin, version } = await setUpN8n();
	await buildPackage();
	const tarball = await packPackage();

	const server = await step('PostgreSQL', 'some seconds', () => startPostgres());
	undo.push(() => server.stop());
	const [own, gate] = [await createDatabase(server.url, 'n8n'), await createDatabase(server.url, 'demo')];
	undo.push(() => own.drop(), () => gate.drop());

	const n8n = await step(`n8n ${version}`, 'about 20 seconds', () => startN8n({ node, bin, databaseUrl: own.url, tarball, port: 5678 }));
	undo.push(() => n8n.stop());
	return { n8n, version, server, databaseUrl: gate.url, credential: postgresCredential(gate.url) };
}

async function end(status) {
	ending = true;
	if (undo.length > 0) console.error('\nStopping n8n and PostgreSQL ...');
	for (const action of undo.splice(0).reverse()) await action().catch((error) => console.error(error.message));
	process.exit(status);
}
