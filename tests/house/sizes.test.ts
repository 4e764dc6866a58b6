import { describe, expect, it } from 'vitest';
import { read, sources } from './tree';

/** About 200 lines make a file; at 350 stop and think; a file that is one table or one list of laws may go on. */
const think = 350;
const never = 700;

describe('file sizes', () => {
	const sizes = sources(/\.(ts|mjs|rs|sql)$/)
		.filter((file) => !file.includes('/generated/') && !file.startsWith('tests/vectors/'))
		.map((file) => ({ file, lines: read(file).split('\n').length }))
		.sort((a, b) => b.lines - a.lines);

	it('are reported, and none is a whole house', () => {
		const median = sizes[Math.floor(sizes.length / 2)]?.lines ?? 0;
		const large = sizes.filter(({ lines }) => lines > think).map(({ file, lines }) => `  ${lines} ${file}`);
		console.log([`${sizes.length} files, median ${median} lines; above ${think}:`, ...large].join('\n'));
		expect(sizes.filter(({ lines }) => lines > never)).toEqual([]);
		expect(sizes.length).toBeGreaterThan(20);
	});
});
