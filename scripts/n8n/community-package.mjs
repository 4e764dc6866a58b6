/**
 * Installs a packed community package the way n8n's own installer does, so that a test sees what users get: development,
 * peer and optional dependencies are struck out, install scripts do not run.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { quietly } from '../setup/progress.mjs';
import { withNode } from '../setup/node24.mjs';

/** Returns the package's name and version. */
export async function installCommunityPackage(tarball, userFolder, node) {
	const modules = path.join(userFolder, '.n8n', 'nodes', 'node_modules');
	mkdirSync(modules, { recursive: true });
	const unpacked = mkdtempSync(path.join(userFolder, 'unpack-'));
	await quietly('tar', ['-xzf', path.resolve(tarball), '-C', unpacked], { log: 'community-package' });

	const { name, version } = strikeOut(path.join(unpacked, 'package', 'package.json'));
	const home = path.join(modules, name);
	mkdirSync(path.dirname(home), { recursive: true });
	renameSync(path.join(unpacked, 'package'), home);
	rmSync(unpacked, { recursive: true });

	const args = ['install', '--install-strategy=shallow', '--ignore-scripts', '--bin-links=false', '--package-lock=false', '--no-audit', '--no-fund'];
	await quietly('npm', args, { log: 'community-package', cwd: home, env: withNode(node) });
	return { name, version };
}

function strikeOut(file) {
	const { devDependencies, peerDependencies, optionalDependencies, ...kept } = JSON.parse(readFileSync(file, 'utf8'));
	writeFileSync(file, JSON.stringify(kept, null, 2));
	return kept;
}
