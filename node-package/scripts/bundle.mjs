/**
 * Bundles the library, the nodes and the credential into `dist/`, as n8n wants them: CommonJS, no dependencies.
 *
 *     dist/index.js                                         the library with the WASM inside, no driver
 *     dist/nodes/NAME/NAME.node.js                          each node with its driver; requires ../../index.js
 *     dist/credentials/*.credentials.js
 *
 * The codex file and the icons lie beside the code that names them.
 */
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const home = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(home, 'dist');
const library = path.join(home, 'src', 'index.ts');

export async function bundle() {
	for (const place of ['nodes', 'credentials']) rmSync(path.join(dist, place), { recursive: true, force: true });

	const shells = sources('nodes', /\.node\.ts$/).concat(sources('credentials', /\.credentials\.ts$/));
	await Promise.all([
		build({ ...options, entryPoints: [library], outfile: path.join(dist, 'index.js') }),
		build({ ...options, entryPoints: shells, outbase: home, outdir: dist, plugins: [oneLibrary] }),
	]);
	for (const file of sources('nodes', /\.(node\.json|svg)$/).concat(sources('credentials', /\.svg$/))) {
		const target = path.join(dist, path.relative(home, file));
		mkdirSync(path.dirname(target), { recursive: true });
		cpSync(file, target);
	}
}

const options = {
	absWorkingDir: home,
	bundle: true,
	platform: 'node',
	format: 'cjs',
	// The oldest Node.js that an n8n 2.x runs on.
	target: 'node20.19',
	charset: 'utf8',
	legalComments: 'eof',
	// n8n resolves `n8n-workflow`; the two others are probed by pg and never needed.
	external: ['n8n-workflow', 'pg-native', 'pg-cloudflare'],
	logLevel: 'warning',
};

/** The shells do not carry the library along: they require the one copy in `dist/index.js`, and so there is one WASM. */
const oneLibrary = {
	name: 'one-library',
	setup({ onResolve }) {
		onResolve({ filter: /^\.\.?\// }, ({ path: wanted, importer, resolveDir }) => {
			const target = path.resolve(resolveDir, wanted);
			if (target !== library.replace(/\.ts$/, '')) {
				if (!target.startsWith(path.dirname(library) + path.sep)) return undefined;
				return { errors: [{ text: `${importer}: import the library as a whole, from src, not ${wanted}` }] };
			}
			const shell = path.relative(home, importer);
			const depth = shell.startsWith(`nodes${path.sep}`) ? 2 : 1;
			return { path: `${'../'.repeat(depth)}index.js`, external: true };
		});
	},
};

function sources(place, pattern) {
	return readdirSync(path.join(home, place), { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile() && pattern.test(entry.name))
		.map((entry) => path.join(entry.parentPath, entry.name))
		.sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle();
