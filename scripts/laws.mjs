/**
 * Runs the store laws against a real server, each named, and says what could not be run and why.
 *
 *     npm run laws -- --store postgres            on PostgreSQL 18 and on 15 (fetched from npm where it is not installed)
 *     npm run laws -- --store postgres --version 15 --only guard
 *     GATE_TEST_POSTGRES_URL=postgres://… npm run laws -- --store postgres
 *
 * Last line: `N passed, N failed, N skipped`. Exit code 1 where a law failed.
 */
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

import { startPostgres } from './setup/postgres.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const worlds = { postgres: postgresWorlds };

const { values } = parseArgs({
	options: { store: { type: 'string', default: 'postgres' }, version: { type: 'string' }, only: { type: 'string' } },
});
const openWorlds = worlds[values.store];
if (openWorlds === undefined) {
	console.error(`There is no store '${values.store}'. There is: ${Object.keys(worlds).join(', ')}.`);
	process.exit(2);
}

// A law awaits what it has started, but a broken store may fail before it comes to that: the law reports it, not Node.
process.on('unhandledRejection', () => {});

const tally = { passed: 0, failed: 0, skipped: 0 };
const { storeLaws, cannotRun, openPostgresWorld } = await load('tests/store/laws-entry.ts');
for await (const world of openWorlds()) await judge(world);
console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
process.exitCode = tally.failed === 0 ? 0 : 1;

async function judge(world) {
	console.log(`\n${world.name}`);
	for (const law of storeLaws) {
		const title = `${law.name} [${law.hazard}]`;
		if (values.only !== undefined && !title.includes(values.only)) continue;
		const reason = cannotRun(law, world);
		if (reason !== null) {
			tally.skipped++;
			console.log(`  skipped  ${title}: ${reason}`);
			continue;
		}
		try {
			await law.run(world);
			tally.passed++;
			console.log(`  ok       ${title}`);
		} catch (error) {
			tally.failed++;
			console.log(`  FAILED   ${title}\n${String(error?.stack ?? error).replaceAll(/^/gm, '             ')}`);
		} finally {
			await world.tidy();
		}
	}
}

async function* postgresWorlds() {
	const given = process.env.GATE_TEST_POSTGRES_URL !== undefined;
	const versions = given ? [undefined] : values.version === undefined ? ['18', '15'] : [values.version];
	for (const version of versions) {
		const server = await startPostgres(version === undefined ? {} : { version });
		const world = await openPostgresWorld(server.url);
		try {
			yield world;
		} finally {
			await world.close();
			await server.stop();
		}
	}
}

/** The laws are TypeScript, and Node 20 does not read that. */
async function load(entry) {
	const outfile = path.join(root, '.cache', 'laws', 'laws.mjs');
	await build({
		entryPoints: [path.join(root, entry)],
		outfile,
		bundle: true,
		platform: 'node',
		format: 'esm',
		external: ['pg'],
		logLevel: 'warning',
		absWorkingDir: root,
	});
	return await import(pathToFileURL(outfile).href);
}
