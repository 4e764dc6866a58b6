import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(__dirname, '../..');

/** The same files that the host's tests run; here they go through the built module, by the command that users have. */
it.each([
	['signatures', ['tests/vectors/signatures.json'], 300],
	['canonical JSON', ['tests/vectors/jcs', ...jcsFiles()], 4000],
])('%s: every vector passes', (_, files, atLeast) => {
	const { status, stdout } = spawnSync(process.execPath, ['scripts/vectors.mjs', ...files], { cwd: root, encoding: 'utf8' });
	const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(stdout) ?? [];
	expect({ status, failed }, stdout.slice(-2000)).toEqual({ status: 0, failed: '0' });
	expect(Number(passed)).toBeGreaterThanOrEqual(atLeast);
}, 120_000);

it('a vector that is wrong is a failure', () => {
	const { status, stdout } = spawnSync(process.execPath, ['scripts/vectors.mjs', 'tests/boundary/wrong-vectors.json'], {
		cwd: root,
		encoding: 'utf8',
	});
	expect(status).toBe(1);
	expect(stdout).toMatch(/^1 passed, 2 failed$/m);
});

function jcsFiles(): string[] {
	const folder = path.join(root, 'tests/vectors/jcs');
	return readdirSync(folder)
		.filter((file) => /\.(json|csv)$/.test(file))
		.map((file) => path.join('tests/vectors/jcs', file));
}
