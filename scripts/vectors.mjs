/**
 * `npm run vectors -- FILE...`: runs test vectors through the built module, as the package ships it.
 *
 * FILE is a list of signed requests, one of the JCS files, or a folder with `input/` and `output/` or `outhex/`; the content
 * decides. tests/vectors/README.md describes the formats. Each miss is printed, requests of providers that the table does
 * not have are counted apart, and the last line is `N passed, N failed`. Exit code 1 where anything failed.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { canonicalCases } from './vectors/canonical.mjs';
import { signatureCases } from './vectors/signatures.mjs';

const files = process.argv.slice(2);
if (files.length === 0) {
	console.error('usage: npm run vectors -- FILE...');
	process.exit(2);
}

const library = fileURLToPath(new URL('../node-package/dist/index.js', import.meta.url));
if (!existsSync(library)) await build({ log: console.error });
const core = createRequire(import.meta.url)(library).loadCore();

let passed = 0;
let failed = 0;
const unsupported = new Map();

for (const file of files) {
	// npm runs scripts in the workspace's root; the user named the file from where they stand.
	const place = path.resolve(process.env.INIT_CWD ?? '.', file);
	for (const one of casesOf(place, core)) {
		if (one.unsupported) {
			unsupported.set(one.unsupported, (unsupported.get(one.unsupported) ?? 0) + 1);
			continue;
		}
		const miss = one.run();
		if (miss === null) {
			passed++;
		} else {
			failed++;
			console.log(`miss  ${path.basename(place)}  ${one.name}: ${miss}`);
		}
	}
}

if (unsupported.size > 0) {
	const names = [...unsupported].sort(([a], [b]) => a.localeCompare(b)).map(([name, count]) => `${name} ${count}`);
	const total = [...unsupported.values()].reduce((sum, count) => sum + count, 0);
	console.log(`provider not supported: ${total} (${names.join(', ')})`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

/** `{ name, run() -> null or what is wrong }`, or `{ unsupported: provider }`. */
function casesOf(place, core) {
	if (statSync(place).isDirectory()) return canonicalCases(core, { folder: place });
	const text = readFileSync(place, 'utf8');
	if (place.endsWith('.csv')) return canonicalCases(core, { csv: text });
	const content = JSON.parse(text);
	return Array.isArray(content) && content[0]?.provider ? signatureCases(core, content) : canonicalCases(core, { content });
}
