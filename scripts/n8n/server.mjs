/** Starts one real n8n with a community package in it, ready for requests, and ends it without leaving anything behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { logFile } from '../setup/cache.mjs';
import { SetupError, tail } from '../setup/progress.mjs';
import { withNode } from '../setup/node24.mjs';
import { N8nApi } from './api.mjs';
import { installCommunityPackage } from './community-package.mjs';
import { choosePort } from './ports.mjs';
import { n8nSettings } from './settings.mjs';

/**
 * @typedef {object} N8nServer
 * @property {string} url           of the editor; webhooks are below `<url>/webhook/`
 * @property {N8nApi} api           logged in as the owner
 * @property {string} logFile
 * @property {Promise<unknown>} ended  when it is over, by `stop` or by itself
 * @property {() => Promise<void>} crash  as by `kill -9`: all its processes at once, without a word. Its folder stays.
 * @property {() => Promise<void>} resume  starts it again after a crash, at the same address and with the same data
 * @property {() => Promise<void>} stop  ends n8n and deletes its folder
 */

/**
 * @param {object} options
 * @param {string} options.node         Node.js 24 or newer
 * @param {string} options.bin          n8n's launcher
 * @param {string} options.databaseUrl  an empty database for n8n itself
 * @param {string} [options.tarball]    a packed community package to install
 * @param {number} [options.port]       wished for; another free one is taken if it is in use
 * @param {string} [options.log]        name of the log file in the cache folder
 * @param {Record<string, string>} [options.settings]  more variables for n8n
 * @returns {Promise<N8nServer>}
 */
export async function startN8n({ node, bin, databaseUrl, tarball, port: wish, log = 'n8n', settings = {} }) {
	const userFolder = mkdtempSync(path.join(tmpdir(), 'gate-n8n-'));
	const file = logFile(log);
	rmSync(file, { force: true });
	let child;
	try {
		if (tarball) await installCommunityPackage(tarball, userFolder, node);
		const [port, brokerPort] = [await choosePort(wish), await choosePort()];
		const env = { ...baseEnvironment(node), ...n8nSettings({ userFolder, port, brokerPort, databaseUrl }), ...settings };
		child = launch(bin, env, userFolder, file);
		const url = `http://127.0.0.1:${port}`;
		await ready(url, child, file);
		const api = new N8nApi(url);
		await api.setUpOwner();
		const crash = async () => {
			const ended = once(child, 'exit');
			process.kill(-child.pid, 'SIGKILL');
			await ended;
		};
		const resume = async () => {
			child = launch(bin, env, userFolder, file);
			await ready(url, child, file);
		};
		return { url, api, logFile: file, ended: once(child, 'exit'), crash, resume, stop: () => stop(child, userFolder) };
	} catch (error) {
		await stop(child, userFolder);
		throw error;
	}
}

/**
 * n8n lives as long as the shell's standard input stays open: it ends with us even if we are killed, and its folder goes
 * too. It has a process group of its own, so that Ctrl-C reaches us alone and we end things in order.
 */
function launch(bin, env, userFolder, file) {
	const output = openSync(file, 'a');
	const child = spawn('/bin/sh', ['-c', lifeline, userFolder, bin, 'start'], {
		cwd: userFolder,
		env,
		stdio: ['pipe', output, output],
		detached: true,
	});
	closeSync(output);
	child.stdin.on('error', () => {});
	return child;
}

// The shell gives background jobs /dev/null for input, so the real one is kept as descriptor 3.
const lifeline = `
exec 3<&0
"$@" 3<&- & n8n=$!
{ read -r _ <&3; kill -TERM "$n8n"; } & watch=$!
wait "$n8n"; status=$?
kill "$watch" 2>/dev/null
cd / && rm -rf -- "$0"
exit "$status"
`;

async function stop(child, userFolder) {
	if (child && child.exitCode === null && child.signalCode === null) {
		const ended = once(child, 'exit');
		child.stdin.end();
		const deadline = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), 30_000);
		await ended;
		clearTimeout(deadline);
	}
	rmSync(userFolder, { recursive: true, force: true });
}

/** n8n says it is ready before its REST interface answers; this waits for the interface. */
async function ready(url, child, file) {
	const deadline = Date.now() + 180_000;
	for (;;) {
		if (child.exitCode !== null || child.signalCode !== null) throw new SetupError(`n8n stopped while starting.\n${tail(file)}\nFull log: ${file}`);
		if (Date.now() > deadline) throw new SetupError(`n8n was not ready after three minutes.\n${tail(file)}\nFull log: ${file}`);
		if ((await answers(`${url}/healthz/readiness`)) && (await answers(`${url}/rest/settings`))) return;
		await pause(100);
	}
}

async function answers(url) {
	try {
		const response = await fetch(url);
		const isJson = response.headers.get('content-type')?.includes('application/json') ?? false;
		await response.arrayBuffer();
		return response.ok && isJson;
	} catch {
		return false;
	}
}

/** The caller's environment without what would change n8n's behaviour or point it at somebody else's data. */
function baseEnvironment(node) {
	const foreign = /^(N8N_|DB_|EXECUTIONS_|QUEUE_|WEBHOOK_URL|NODE_OPTIONS|NODE_ENV|VITEST|npm_)/;
	return withNode(node, Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name))));
}
