/** Everything that the demo and the tests stand on, in order. Each part does nothing when it is there already. */
import path from 'node:path';
import { root } from './cache.mjs';
import { installDependencies } from './dependencies.mjs';
import { findN8n } from './n8n.mjs';
import { findNode24 } from './node24.mjs';
import { checkPrerequisites } from './prerequisites.mjs';
import { quietly, step } from './progress.mjs';

/** The repository's own packages, and nothing else. */
export async function setUpRepository() {
	checkPrerequisites();
	await installDependencies();
}

/** A Node.js for n8n, and n8n: `{ node, bin, version }`. */
export async function setUpN8n() {
	const node = await findNode24();
	return { node, ...(await findN8n(node)) };
}

/** Builds the WASM core and the node package. The WASM toolchain is set up on the way if the machine has none. */
export async function buildPackage() {
	await step('build: Rust core to WASM, node package', 'some seconds; several minutes the first time', () => script('build'));
}

/** Builds and packs the node package; returns the tarball's path. */
export async function packPackage() {
	const output = await step('pack: the tarball that n8n installs', 'some seconds', () => script('pack', '--path'));
	return output.trimEnd().split('\n').at(-1);
}

function script(name, ...args) {
	return quietly(process.execPath, [path.join(root, 'scripts', `${name}.mjs`), ...args], { log: name, cwd: root });
}
