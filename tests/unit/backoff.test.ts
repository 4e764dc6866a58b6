import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs } from '../../node-package/src/backoff';

const backoff = { baseMs: 1_000, capMs: 60_000 };
/** The largest number that `Math.random()` can give. */
const almostOne = 1 - Number.EPSILON / 2;

describe('the wait after a failed attempt', () => {
	it('may be twice as long as the one before, up to the cap', () => {
		const longest = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempt) => backoffMs(backoff, attempt, almostOne));
		expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
	});

	it('uses the whole range, evenly', () => {
		expect(backoffMs(backoff, 3, 0)).toBe(0);
		expect(backoffMs(backoff, 3, 0.25)).toBe(1_000);
		expect(backoffMs(backoff, 3, 0.5)).toBe(2_000);
	});

	it('is a whole number within its bounds, whatever the attempt', () => {
		const settings = fc
			.tuple(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 1e9 }))
			.map(([a, b]) => ({ baseMs: Math.min(a, b), capMs: Math.max(a, b) }));
		const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
		fc.assert(
			fc.property(settings, fc.integer({ min: 1, max: 100_000 }), random, (any, attempt, roll) => {
				const wait = backoffMs(any, attempt, roll);
				expect(Number.isInteger(wait)).toBe(true);
				expect(wait).toBeGreaterThanOrEqual(0);
				expect(wait).toBeLessThanOrEqual(any.capMs);
			}),
		);
	});

	it.each([
		['no base', { baseMs: 0, capMs: 1 }, 1, 0],
		['a cap below the base', { baseMs: 2, capMs: 1 }, 1, 0],
		['no number', { baseMs: Number.NaN, capMs: 1 }, 1, 0],
		['an endless cap', { baseMs: 1, capMs: Infinity }, 1, 0],
		['attempt 0', backoff, 0, 0],
		['half an attempt', backoff, 1.5, 0],
		['a random number of 1', backoff, 1, 1],
		['a negative random number', backoff, 1, -0.1],
	])('%s is refused', (_, settings, attempt, random) => {
		expect(() => backoffMs(settings, attempt, random)).toThrow(RangeError);
	});
});
