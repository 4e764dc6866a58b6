import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.resolve(__dirname, '../..');

/** Files that git tracks or would track, relative to the root, with forward slashes. */
export function sources(matching: RegExp): string[] {
	const args = ['ls-files', '--cached', '--others', '--exclude-standard'];
	const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n');
	return [...new Set(listed)].filter((file) => file !== '' && matching.test(file) && exists(file)).sort();
}

export function read(file: string): string {
	return readFileSync(path.join(root, file), 'utf8');
}

/** Listed by git but deleted in the working tree. */
function exists(file: string): boolean {
	try {
		readFileSync(path.join(root, file));
		return true;
	} catch {
		return false;
	}
}
