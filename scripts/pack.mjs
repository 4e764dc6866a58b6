/**
 * `npm run pack`: builds and packs what npm would publish, into `.cache/pack/`, and prints its path and size.
 *
 *     npm run --silent pack -- --path    the path alone, for scripts
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const home = path.join(root, 'node-package');
const target = path.join(root, '.cache', 'pack');

/** Packs and gives the tarball's path. */
export async function pack({ log = console.log } = {}) {
	await build({ log });
	// npm takes these two from the package's own folder only.
	for (const file of ['README.md', 'LICENSE']) cpSync(path.join(root, file), path.join(home, file));
	rmSync(target, { recursive: true, force: true });
	mkdirSync(target, { recursive: true });
	const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target];
	const [packed] = JSON.parse(execFileSync('npm', args, { cwd: home, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
	return path.join(target, packed.filename);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const pathOnly = process.argv.includes('--path');
	const file = await pack({ log: pathOnly ? console.error : console.log });
	console.log(pathOnly ? file : `${path.relative(root, file)}  ${(statSync(file).size / 1024).toFixed(0)} KB`);
}
