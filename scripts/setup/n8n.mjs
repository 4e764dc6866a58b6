/**
 * n8n itself, from npm, pinned: a moving version would make the same commit pass today and fail tomorrow.
 *
 * No install script runs. The one native module that n8n needs with its database on PostgreSQL (isolated-vm) ships
 * prebuilt; sqlite3 would have to be compiled, and is not needed then.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { component } from './cache.mjs';
import { quietly, SetupError, step } from './progress.mjs';
import { withNode } from './node24.mjs';

const PINNED = '2.41.1';

/** The n8n to use: `{ bin, version }`. `N8N_BIN` names one that is installed already; `GATE_N8N_VERSION` another version. */
export async function findN8n(node) {
	const given = process.env.N8N_BIN;
	if (given) {
		if (!existsSync(given)) throw new SetupError(`N8N_BIN names ${given}, which is not there.`);
		return { bin: given, version: versionOf(given, node) };
	}
	const version = process.env.GATE_N8N_VERSION || PINNED;
	const folder = await component(`n8n-${version}`, (target) =>
		step(`n8n ${version}`, '5 to 10 minutes, 3 GB, once', async () => {
			const args = ['install', `n8n@${version}`, '--prefix', target, '--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund'];
			await quietly('npm', args, { log: 'n8n-install', cwd: target, env: withNode(node) });
			const loads = spawnSync(node, ['-e', "require('isolated-vm')"], { cwd: target, encoding: 'utf8' });
			if (loads.status !== 0) throw new SetupError(`n8n's native module isolated-vm does not load here:\n${loads.stderr}`);
		}),
	);
	return { bin: launcher(folder), version };
}

const launcher = (folder) => path.join(folder, 'node_modules', 'n8n', 'bin', 'n8n');

function versionOf(bin, node) {
	const asked = spawnSync(bin, ['--version'], { env: withNode(node), encoding: 'utf8' });
	const version = asked.stdout?.trim().split('\n').at(-1);
	if (asked.status !== 0 || !version) throw new SetupError(`${bin} --version failed: ${asked.error?.message ?? asked.stderr}`);
	return version;
}
