/**
 * What a person sees during the set-up: one line per step with the seconds it took, and a sign of life in long ones.
 * Commands run quietly; their output goes to a log file, whose path and last lines are shown when they fail.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { logFile } from './cache.mjs';

/** Something a person must put right; shown without a stack. */
export class SetupError extends Error {
	name = 'SetupError';
}

/** Runs `work`, showing `title` while it lasts. `expectation` says roughly how long, e.g. `5 to 10 minutes`. */
export async function step(title, expectation, work) {
	const started = Date.now();
	const seconds = () => `${String(Math.round((Date.now() - started) / 1000)).padStart(4)} s`;
	const live = process.stderr.isTTY;
	const line = `${title}${expectation ? ` (${expectation})` : ''}`;
	const show = () => process.stderr.write(live ? `\r\x1b[2K  ${seconds()}  ${line} ...` : `  ${seconds()}  ${line} ...\n`);
	show();
	const ticker = setInterval(show, live ? 1_000 : 30_000);
	ticker.unref();
	const end = (word) => process.stderr.write(`${live ? '\r\x1b[2K' : ''}  ${seconds()}  ${title}: ${word}\n`);
	try {
		const result = await work();
		clearInterval(ticker);
		end('done');
		return result;
	} catch (error) {
		clearInterval(ticker);
		end('FAILED');
		throw error;
	}
}

/**
 * Runs a command with its output in `<cache>/logs/<log>.log`, and returns that output. Throws a `SetupError` that says
 * where it is when the command fails.
 */
export async function quietly(command, args, { log, ...options }) {
	const file = logFile(log);
	const output = openSync(file, 'w');
	try {
		const code = await new Promise((resolve, reject) => {
			const child = spawn(command, args, { ...options, stdio: ['ignore', output, output] });
			child.once('error', reject);
			child.once('exit', (status, signal) => resolve(status ?? signal));
		});
		if (code !== 0) throw new SetupError(`${[command, ...args].join(' ')} ended with ${code}.\n${tail(file)}\nFull log: ${file}`);
		return readFileSync(file, 'utf8');
	} catch (error) {
		if (error.code === 'ENOENT') throw new SetupError(`${command} was not found.`, { cause: error });
		throw error;
	} finally {
		closeSync(output);
	}
}

/** The last lines of a log, for the message of a failure. */
export function tail(file, lines = 15) {
	return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).map((line) => `    ${line}`).join('\n');
}
