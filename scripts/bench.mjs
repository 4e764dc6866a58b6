/**
 * Runs a benchmark by name: `npm run bench -- claim-shapes [its own options]`. Each is a script in tests/bench that compares
 * side by side in one run and ends with one line of JSON. Only ratios mean something on a shared machine.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../tests/bench/', import.meta.url));
const names = readdirSync(folder)
	.filter((file) => file.endsWith('.mjs'))
	.map((file) => path.basename(file, '.mjs'));

const [name, ...options] = process.argv.slice(2);
if (!names.includes(name)) {
	console.error(`${name === undefined ? 'Which benchmark?' : `There is no benchmark '${name}'.`} There is: ${names.join(', ')}.`);
	process.exit(2);
}
const { status } = spawnSync(process.execPath, [path.join(folder, `${name}.mjs`), ...options], { stdio: 'inherit' });
process.exitCode = status ?? 1;
