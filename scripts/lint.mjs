/** `npm run lint`: every check runs, also after one that failed; the answer is the sum. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

const checks = [
	{ name: 'rustfmt', run: ['cargo', 'fmt', '--all', '--check'] },
	{ name: 'clippy', run: ['cargo', 'clippy', '--workspace', '--all-targets', '--quiet', '--', '--deny', 'warnings'] },
	{ name: 'types', run: [process.execPath, require.resolve('typescript/bin/tsc'), '--noEmit'] },
	// n8n's rules read the package.json of the folder they run in, so the package is linted from its own.
	{ name: 'eslint, package', run: [process.execPath, eslint(), '.', '--max-warnings', '0'], in: 'node-package' },
	{ name: 'eslint, workspace', run: [process.execPath, eslint(), '.', '--max-warnings', '0'] },
];

const failed = checks.filter(({ name, run: [command, ...args], in: folder = '.' }) => {
	const began = Date.now();
	const { status } = spawnSync(command, args, { cwd: path.join(root, folder), stdio: 'inherit' });
	console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
	return status !== 0;
});
process.exitCode = failed.length === 0 ? 0 : 1;

function eslint() {
	return path.join(path.dirname(require.resolve('eslint/package.json')), 'bin', 'eslint.js');
}
