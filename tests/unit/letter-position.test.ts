import { describe, expect, it } from 'vitest';
import { afterRestart, BEGINNING, type LetterPosition, moveOn, readPosition, tell } from '../../node-package/nodes/IdempotencyGateTrigger/letterPosition';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Reads as the trigger does from what is committed, and gives the numbers in the order in which they were seen. */
function reader() {
	let position: LetterPosition = BEGINNING;
	return (committed: readonly number[], nowMs = 0, limit = 100): number[] => {
		const missing = new Set(position.missing.map(([id]) => Number(id)));
		const seen = committed.filter((id) => id > Number(position.after) || missing.has(id)).sort((a, b) => a - b).slice(0, limit);
		position = moveOn(readPosition(JSON.parse(JSON.stringify(position))), seen.map(String), nowMs);
		return seen;
	};
}

describe('the position in the letters', () => {
	it('goes on from the last one that was seen', () => {
		const read = reader();
		expect(read([5, 6, 7], 0, 2)).toEqual([5, 6]);
		expect(read([5, 6, 7], 0, 2)).toEqual([7]);
		expect(read([5, 6, 7])).toEqual([]);
	});

	it('asks for a number that was skipped, until it comes', () => {
		const read = reader();
		expect(read([1, 4])).toEqual([1, 4]);
		expect(read([1, 3, 4, 5])).toEqual([3, 5]);
		expect(read([1, 2, 3, 4, 5])).toEqual([2]);
		expect(read([1, 2, 3, 4, 5])).toEqual([]);
	});

	it('gives a number up after a day', () => {
		const read = reader();
		expect(read([1, 3])).toEqual([1, 3]);
		expect(read([1, 3], DAY - 1)).toEqual([]);
		expect(read([1, 3], DAY)).toEqual([]);
		expect(read([1, 2, 3], DAY)).toEqual([]);
	});

	it('does not wait for what was deleted: not before the first, and not a long row', () => {
		expect(moveOn(BEGINNING, ['5000'], 0).missing).toEqual([]);
		const far = moveOn({ after: '1', missing: [], told: [] }, ['9007199254740993'], 0);
		expect(far).toEqual({ after: '9007199254740993', missing: [], told: [] });
	});

	it('remembers a bounded number of them', () => {
		let position = moveOn(BEGINNING, ['1'], 0);
		for (let last = 1001; last <= 5001; last += 1000) position = moveOn(position, [String(last)], 0);
		expect(position.missing).toHaveLength(1000);
		expect(position.missing.at(-1)![0]).toBe('5000');
	});

	it('after a restart reads once more what was reported within the hour, and no more than that', () => {
		let position = tell(moveOn(BEGINNING, ['1', '2'], 0), ['1', '2'], 0);
		position = tell(moveOn(position, ['3', '4'], HOUR - 1), ['4'], HOUR - 1);
		expect(position.told.map(([id]) => id)).toEqual(['1', '2', '4']);
		const restarted = afterRestart(position, HOUR);
		expect(restarted).toEqual({ after: '4', missing: [['4', HOUR]], told: [] });
		expect(moveOn(restarted, ['4', '5'], HOUR)).toEqual({ after: '5', missing: [], told: [] });
	});

	it('begins anew where n8n has kept nothing, or something else', () => {
		for (const kept of [undefined, null, 7, {}, { after: 1, missing: [], told: [] }, { after: 'x', missing: [], told: [] }, { after: '1', missing: [] }]) {
			expect(readPosition(kept)).toEqual(BEGINNING);
		}
		const kept = { after: '7', missing: [['5', 1], ['x', 1], 5], told: [['7', 2], null] };
		expect(readPosition(kept)).toEqual({ after: '7', missing: [['5', 1]], told: [['7', 2]] });
	});
});
