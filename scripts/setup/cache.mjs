/**
 * The cache folder: what the set-up downloads and builds, kept between runs and ignored by git.
 *
 * Two set-ups at once take turns (a lock), and a component counts as installed only once its marker is written, so an
 * installation that was interrupted is done again.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The repository's top folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Where everything goes that the set-up makes. `GATE_CACHE_DIR` moves it, e.g. to share it between clones. */
export const cacheFolder = path.resolve(root, process.env.GATE_CACHE_DIR || '.cache');

/**
 * The folder of one component, installed first if it is not there or was left unfinished.
 * `name` carries the version, e.g. `n8n-2.41.1`, so that two versions do not meet. `install` gets an empty folder.
 */
export async function component(name, install) {
	const folder = path.join(cacheFolder, name);
	if (isFinished(folder)) return folder;
	return await underLock(async () => {
		if (isFinished(folder)) return folder;
		rmSync(folder, { recursive: true, force: true });
		mkdirSync(folder, { recursive: true });
		await install(folder);
		writeFileSync(marker(folder), `${new Date().toISOString()}\n`);
		return folder;
	});
}

/** A file for the output of a quiet command. */
export function logFile(name) {
	const folder = path.join(cacheFolder, 'logs');
	mkdirSync(folder, { recursive: true });
	return path.join(folder, `${name}.log`);
}

const marker = (folder) => path.join(folder, '.finished');

function isFinished(folder) {
	return read(marker(folder)) !== null;
}

/** Runs `work` while no other set-up does. The lock of a process that is gone is taken over. */
async function underLock(work) {
	mkdirSync(cacheFolder, { recursive: true });
	const lock = path.join(cacheFolder, 'set-up.lock');
	let told = false;
	while (!take(lock)) {
		const holder = read(lock);
		if (holder !== null && !isAlive(Number(holder))) {
			rmSync(lock, { force: true });
			continue;
		}
		if (!told) console.error(`Another set-up is running (process ${holder ?? '?'}); waiting for it.`);
		told = true;
		await pause(500);
	}
	try {
		return await work();
	} finally {
		rmSync(lock, { force: true });
	}
}

function take(lock) {
	try {
		writeFileSync(lock, String(process.pid), { flag: 'wx' });
		return true;
	} catch (error) {
		if (error.code === 'EEXIST') return false;
		throw error;
	}
}

/** False only where the process is certainly gone: a lock just created may be read before its number is written. */
function isAlive(pid) {
	if (!Number.isInteger(pid) || pid <= 0) return true;
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return error.code === 'EPERM';
	}
}

function read(file) {
	try {
		return readFileSync(file, 'utf8');
	} catch (error) {
		if (error.code === 'ENOENT') return null;
		throw error;
	}
}
