/** What a machine must have before anything of ours runs: Rust's cargo, and Node.js with npm. */
import { spawnSync } from 'node:child_process';
import { SetupError } from './progress.mjs';

const OLDEST_NODE = [20, 19];

/** Throws one clear sentence for each thing that is missing. */
export function checkPrerequisites() {
	const missing = [];
	const [major, minor] = process.versions.node.split('.').map(Number);
	if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
		missing.push(`Node.js ${OLDEST_NODE.join('.')} or newer is needed, this is ${process.versions.node}: install a newer one from https://nodejs.org.`);
	}
	if (!runs('npm')) missing.push('npm is missing: install Node.js together with npm from https://nodejs.org.');
	if (!runs('cargo')) missing.push('Rust is missing: install it from https://rustup.rs, then open a new terminal so that cargo is found.');
	else if (!runs('rustc')) missing.push('cargo is there but rustc is not: run "rustup default stable", or install Rust from https://rustup.rs.');
	if (missing.length > 0) throw new SetupError(missing.join('\n'));
}

function runs(command) {
	return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}
