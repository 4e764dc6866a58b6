/**
 * `npm run build`: WASM, embedded SQL, bundle, types -> node-package/dist. What is fresh is not made again.
 *
 *     npm run build             as needed
 *     npm run build -- --force  everything
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => path.join(root, ...parts);
const node = (...parts) => at('node-package', ...parts);

/** The nodes of the package. */
const shells = ['IdempotencyGate', 'IdempotencyGateTrigger'];

/** In order: each step may use what the ones before it made. `made` is a stamp where the outputs are many; `needs` are some of those. */
const steps = [
	{
		name: 'WASM core',
		from: [at('Cargo.toml'), at('Cargo.lock'), at('.cargo'), at('crates')],
		made: [node('src/wasm/generated/gate_wasm.js')],
		run: () => command('cargo', ['xtask', 'wasm']),
	},
	{
		name: 'embedded SQL',
		from: [node('scripts/embed-sql.mjs'), node('src/store/postgres')],
		// Its outputs lie among its sources; they do not make the sources newer.
		except: 'generated',
		made: [stamp('embed-sql')],
		run: () => command(process.execPath, [node('scripts/embed-sql.mjs')]),
	},
	{
		name: 'bundle',
		from: [node('scripts/bundle.mjs'), node('src'), node('nodes'), node('credentials'), at('package-lock.json')],
		made: [stamp('bundle')],
		needs: ['index.js', ...shells.map((name) => `nodes/${name}/${name}.node.js`)].map((file) => node('dist', file)),
		run: async () => (await import('../node-package/scripts/bundle.mjs')).bundle(),
	},
	{
		name: 'types',
		from: [node('src'), node('tsconfig.build.json'), at('tsconfig.json')],
		made: [stamp('types')],
		needs: [node('dist/index.d.ts')],
		run: emitTypes,
	},
];

export async function build({ force = false, log = console.log } = {}) {
	for (const step of steps) {
		if (!force && isFresh(step)) continue;
		const began = Date.now();
		await step.run();
		for (const file of step.made) touch(file);
		log(`built ${step.name} in ${((Date.now() - began) / 1000).toFixed(1)} s`);
	}
}

/** Beside what the set-up keeps: the package's own folder holds what is published and nothing else. */
function stamp(name) {
	return at('.cache', 'built', name);
}

/** The time of what was made; a stamp is an empty file. */
function touch(file) {
	mkdirSync(path.dirname(file), { recursive: true });
	appendFileSync(file, '');
	const now = new Date();
	utimesSync(file, now, now);
}

/** As `make` does. A folder counts as changed when something in it was added or removed. */
function isFresh({ from, except, made, needs = [] }) {
	const oldest = Math.min(...made.map((file) => time(file)));
	if (oldest === 0 || needs.some((file) => time(file) === 0)) return false;
	return from.every((source) => newest(source, except) <= oldest);
}

function newest(source, except) {
	const own = time(source);
	if (own === 0 || !statSync(source).isDirectory()) return own;
	const inside = readdirSync(source).filter((name) => name !== except);
	return Math.max(own, ...inside.map((name) => newest(path.join(source, name), except)));
}

function time(file) {
	return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function emitTypes() {
	const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
	command(process.execPath, [tsc, '--project', node('tsconfig.build.json')]);
	// A declaration that is a source is not emitted by the compiler.
	const contract = 'wasm/generated/boundary.d.ts';
	cpSync(node('src', contract), node('dist', contract));
}

function command(name, args) {
	const { status, error } = spawnSync(name, args, { cwd: root, stdio: 'inherit' });
	if (error?.code === 'ENOENT') throw new Error(`${name} was not found. Install it, then run this again.`);
	if (status !== 0) throw new Error(`${[name, ...args].join(' ')} failed`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const force = process.argv.includes('--force');
	if (force) rmSync(node('dist'), { recursive: true, force: true });
	const began = Date.now();
	try {
		await build({ force });
		console.log(`node-package/dist is up to date (${((Date.now() - began) / 1000).toFixed(1)} s)`);
	} catch (error) {
		console.error(error.message);
		process.exitCode = 1;
	}
}
