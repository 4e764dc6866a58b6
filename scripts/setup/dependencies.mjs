/** The npm packages of this repository, as the lock file names them. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { root } from './cache.mjs';
import { quietly, step } from './progress.mjs';

/** Runs `npm ci` when node_modules is missing or older than the lock file. */
export async function installDependencies() {
	// npm writes this file last, so it is absent after an installation that was interrupted.
	const installed = modified(path.join(root, 'node_modules', '.package-lock.json'));
	if (installed !== null && installed >= modified(path.join(root, 'package-lock.json'))) return;
	await step('npm packages of the repository', 'about a minute', () =>
		quietly('npm', ['ci', '--no-audit', '--no-fund'], { log: 'npm-ci', cwd: root }),
	);
}

function modified(file) {
	try {
		return statSync(file).mtimeMs;
	} catch (error) {
		if (error.code === 'ENOENT') return null;
		throw error;
	}
}
