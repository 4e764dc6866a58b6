/** How far the letters have been read, as n8n keeps it between two polls. */
export interface LetterPosition {
	/** Number of the last letter that was seen. */
	readonly after: string;
	/** Numbers before it that were not there, with the time at which that was noticed, ms. */
	readonly missing: ReadonlyArray<readonly [id: string, noticedAtMs: number]>;
}

export const BEGINNING: LetterPosition = { after: '0', missing: [] };

/**
 * The position after some more letters, which come in the order of their numbers. A number that is skipped belongs to a
 * letter that is not committed yet, or never will be: it is asked for until it comes, or for a day.
 */
export function moveOn({ after, missing }: LetterPosition, seen: readonly string[], nowMs: number): LetterPosition {
	const there = new Set(seen);
	const awaited = missing.filter(([id, noticedAtMs]) => !there.has(id) && nowMs - noticedAtMs < LONGEST_TRANSACTION_MS);
	let last = BigInt(after);
	for (const id of seen.map(BigInt)) {
		if (id <= last) continue;
		// From the beginning on, what is not there has been deleted long ago. So has a long row of numbers.
		const skipped = last === 0n || id - last > MOST_SKIPPED ? [] : range(last + 1n, id);
		awaited.push(...skipped.map((gap) => [gap, nowMs] as const));
		last = id;
	}
	return { after: String(last), missing: awaited.slice(-MOST_MISSING) };
}

const LONGEST_TRANSACTION_MS = 86_400_000;
const MOST_SKIPPED = 1000n;
const MOST_MISSING = 1000;

function range(from: bigint, to: bigint): string[] {
	return Array.from({ length: Number(to - from) }, (_, n) => String(from + BigInt(n)));
}

/** What n8n has kept; from the beginning where that is nothing, or nothing of ours. */
export function readPosition(kept: unknown): LetterPosition {
	const { after, missing } = (typeof kept === 'object' && kept !== null ? kept : {}) as { after?: unknown; missing?: unknown };
	if (typeof after !== 'string' || !/^\d{1,18}$/.test(after) || !Array.isArray(missing)) return BEGINNING;
	return { after, missing: missing.filter(isMissing) };
}

function isMissing(entry: unknown): entry is readonly [string, number] {
	if (!Array.isArray(entry)) return false;
	const [id, noticedAtMs] = entry as unknown[];
	return typeof id === 'string' && /^\d{1,18}$/.test(id) && typeof noticedAtMs === 'number';
}
