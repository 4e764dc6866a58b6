/**
 * A Node.js that the current n8n accepts (24 or newer). The running one if it is new enough; else npm's packaged binary.
 *
 * npm's `node` package fetches its binary in an install script, and we run none: the platform package that the script
 * would fetch is installed by its own name.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { component } from './cache.mjs';
import { quietly, SetupError, step } from './progress.mjs';

const OLDEST_MAJOR = 24;
const PINNED = '24.21.0';

/** Path of a Node.js executable, version 24 or newer. */
export async function findNode24() {
	if (Number(process.versions.node.split('.')[0]) >= OLDEST_MAJOR) return process.execPath;
	const name = platformPackage();
	const folder = await component(`node-${PINNED}`, (target) =>
		step(`Node.js ${PINNED} for n8n`, 'some seconds, 190 MB', async () => {
			await quietly('npm', ['install', `${name}@${PINNED}`, '--prefix', target, '--ignore-scripts', '--no-audit', '--no-fund'], {
				log: 'node24',
				cwd: target,
			}).catch((error) => {
				throw new SetupError(`${error.message}\n${advice}`);
			});
			if (!runs(executable(target, name))) throw new SetupError(`The Node.js ${PINNED} from npm does not run on this system. ${advice}`);
		}),
	);
	return executable(folder, name);
}

/** `PATH` with this Node.js first, so that `npm` and n8n's launcher use it. */
export function withNode(node, env = process.env) {
	return { ...env, PATH: `${path.dirname(node)}${path.delimiter}${env.PATH ?? ''}` };
}

const advice = `n8n needs Node.js ${OLDEST_MAJOR}: install it from https://nodejs.org and start again with it.`;

function platformPackage() {
	const platform = process.platform === 'win32' ? 'win' : process.platform;
	// Apple's ARM build came under another name, the one npm's `node` package uses too.
	const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
	return `${prefix}-${platform}-${process.arch}`;
}

function executable(folder, name) {
	return path.join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

function runs(node) {
	return spawnSync(node, ['--version'], { stdio: 'ignore' }).status === 0;
}
