/**
 * A private PostgreSQL for the demo and the tests: real server, real connections, a free port on 127.0.0.1, gone with
 * the process that started it. With GATE_TEST_POSTGRES_URL set, that server is used and nothing is started.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { findBinaries } from './postgres-binaries.mjs';

/**
 * @typedef {object} PostgresServer
 * @property {string} url          connection string of a superuser
 * @property {number} port
 * @property {string} version      e.g. `18.4`
 * @property {string} via          where the binaries came from, for people
 * @property {boolean} external    true where the server is somebody else's (GATE_TEST_POSTGRES_URL): it cannot be halted
 * @property {() => string} log    what the server has written so far
 * @property {(how?: 'fast' | 'crash') => Promise<void>} halt  ends the server, keeps data and port
 * @property {() => Promise<void>} resume   starts it again after `halt`
 * @property {(how?: 'fast' | 'crash') => Promise<void>} restart
 * @property {() => Promise<void>} stop     ends it for good; data go too, unless `dataDir` was given
 */

/**
 * @param {object} [options]
 * @param {'15' | '18'} [options.version]  insist on a major version; fetched from npm where the machine has none
 * @param {Record<string, string | number>} [options.settings]  server settings, e.g. `{ deadlock_timeout: '200ms' }`
 * @param {boolean} [options.durable]  false (default): no fsync, for speed. True: as a production server
 * @param {string} [options.dataDir]   keep the data here; a later start with the same folder finds them again
 * @param {number} [options.port]      default: a free one
 * @returns {Promise<PostgresServer>}
 */
export async function startPostgres(options = {}) {
	const given = process.env.GATE_TEST_POSTGRES_URL;
	return given ? external(given) : await new PrivateServer(options).begin();
}

function external(url) {
	const refuse = async () => {
		throw new Error('GATE_TEST_POSTGRES_URL names a server that is not ours to halt; unset it to use a private one.');
	};
	return {
		url,
		port: Number(new URL(url).port || 5432),
		version: 'as given',
		via: 'GATE_TEST_POSTGRES_URL',
		external: true,
		log: () => '',
		halt: refuse,
		resume: refuse,
		restart: refuse,
		stop: async () => {},
	};
}

/**
 * Stands between us and the server and ends it when we are gone, however we went. $1: our folder; the rest: the server.
 * A word on standard input is the signal to end with; its end without a word means that we died, and then the folder goes too.
 */
const lifeline = `
home=$1; shift
exec 3<&0 </dev/null
"$@" 3<&- & server=$!
echo "$server" > "$home/server.pid"
{ read -r how || touch "$home/abandoned"; kill -s "\${how:-INT}" "$server"; } <&3 & watcher=$!
exec 3<&-
wait "$server"; status=$?
kill "$watcher" 2>/dev/null
if [ -e "$home/abandoned" ]; then rm -rf -- "$home"; fi
exit "$status"
`;

class PrivateServer {
	external = false;
	#options;
	#ids;
	#home;
	#data;
	#bin;
	#child = null;

	constructor(options) {
		if (process.platform === 'win32') {
			throw new Error('A private PostgreSQL is started on Linux and macOS only; on Windows set GATE_TEST_POSTGRES_URL or use WSL.');
		}
		this.#options = options;
		this.#ids = unprivilegedUser();
		this.#home = mkdtempSync(path.join(tmpdir(), 'gate-postgres-'));
		this.#own(this.#home);
	}

	async begin() {
		try {
			const { version, dataDir } = this.#options;
			const found = findBinaries({ version, ids: this.#ids, copyTo: this.#home });
			this.#bin = found.bin;
			this.version = found.version;
			this.via = found.via;
			this.#data = dataDir === undefined ? path.join(this.#home, 'data') : this.#keptFolder(dataDir);
			if (!existsSync(path.join(this.#data, 'PG_VERSION'))) this.#initialise();
			await this.#listen();
			return this;
		} catch (error) {
			rmSync(this.#home, { recursive: true, force: true });
			throw error;
		}
	}

	get url() {
		return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
	}

	log = () => {
		const file = path.join(this.#home, 'server.log');
		return existsSync(file) ? readFileSync(file, 'utf8') : '';
	};

	halt = async (how = 'fast') => {
		const child = this.#child;
		if (child === null) return;
		this.#child = null;
		child.ref();
		const ended = once(child, 'exit');
		child.stdin.end(how === 'crash' ? 'QUIT\n' : 'INT\n');
		await ended;
	};

	resume = async () => {
		if (this.#child === null) await this.#run();
	};

	restart = async (how) => {
		await this.halt(how);
		await this.resume();
	};

	stop = async () => {
		await this.halt(this.#options.dataDir === undefined ? 'crash' : 'fast');
		rmSync(this.#home, { recursive: true, force: true });
	};

	#initialise() {
		const initdb = spawnSync(
			path.join(this.#bin, 'initdb'),
			['-D', this.#data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
			{ ...this.#ids, cwd: this.#home, encoding: 'utf8', env: plainEnvironment() },
		);
		if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.error ?? initdb.stderr}`);
	}

	/** A free port may be taken by somebody else before the server binds it: then another one. */
	async #listen() {
		for (let attempt = 1; ; attempt++) {
			this.port = this.#options.port ?? (await freePort());
			try {
				return await this.#run();
			} catch (error) {
				const taken = /Address already in use|could not bind/.test(error.message);
				if (!taken || this.#options.port !== undefined || attempt === 5) throw error;
			}
		}
	}

	async #run() {
		const settings = {
			listen_addresses: '127.0.0.1',
			port: this.port,
			unix_socket_directories: '',
			max_connections: 200,
			...(this.#options.durable ? {} : { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
			...this.#options.settings,
		};
		const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
		const server = path.join(this.#bin, 'postgres');
		const log = openSync(path.join(this.#home, 'server.log'), 'a');
		const child = spawn('/bin/sh', ['-c', lifeline, 'sh', this.#home, server, '-D', this.#data, ...args], {
			...this.#ids,
			cwd: this.#home,
			env: plainEnvironment(),
			stdio: ['pipe', log, log],
			// Its own process group: Ctrl-C reaches us, and we end what uses the server before the server.
			detached: true,
		});
		closeSync(log);
		child.stdin.on('error', () => {});
		await this.#ready(child);
		this.#child = child;
		child.once('exit', () => {
			if (this.#child === child) this.#child = null;
		});
		// A forgotten server must not keep the program alive; when the program ends, the lifeline ends the server.
		child.unref();
		child.stdin.unref();
	}

	/** As `pg_ctl` does: postmaster.pid says whose it is and, in its eighth line, when the server takes connections. */
	async #ready(child) {
		let failure = null;
		child.once('error', (error) => (failure = error));
		const file = path.join(this.#data, 'postmaster.pid');
		for (;;) {
			if (failure !== null || child.exitCode !== null) {
				throw new Error(`PostgreSQL ${this.version} (${this.via}) did not start: ${failure ?? this.log().slice(-2000)}`);
			}
			const ours = linesOf(path.join(this.#home, 'server.pid'))[0];
			const state = linesOf(file);
			if (ours && state[0] === ours && state[7]?.trim() === 'ready') return;
			await delay(20);
		}
	}

	/** The folder the caller wants kept; where the server's user cannot reach it, one in /var/tmp of the same name. */
	#keptFolder(wanted) {
		mkdirSync(wanted, { recursive: true, mode: 0o700 });
		this.#own(wanted);
		const reached = spawnSync('/bin/sh', ['-c', 'cd "$0" && test -w .', wanted], { ...this.#ids, cwd: '/' });
		if (reached.status === 0) return wanted;
		const instead = path.join('/var/tmp', `gate-postgres${path.resolve(wanted).replaceAll(/[^A-Za-z0-9]+/g, '-')}`);
		mkdirSync(instead, { recursive: true, mode: 0o700 });
		this.#own(instead);
		return instead;
	}

	#own(folder) {
		chmodSync(folder, 0o700);
		if (this.#ids.uid !== undefined) chownSync(folder, this.#ids.uid, this.#ids.gid);
	}
}

/** PostgreSQL refuses to run as root. `postgres` exists where Debian's package is, `nobody` everywhere. */
function unprivilegedUser() {
	if (process.getuid() !== 0) return {};
	for (const name of ['postgres', 'nobody']) {
		const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
		if (uid.status === 0 && gid.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
	}
	throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody to run it as.');
}

function linesOf(file) {
	return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
}

/** PG* variables of the caller would leak into initdb and the server. */
function plainEnvironment() {
	return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
}

async function freePort() {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const { port } = server.address();
	server.close();
	await once(server, 'close');
	return port;
}
