/** How far the letters have been read, as n8n keeps it between two polls. */
export interface LetterPosition {
	/** Number of the last letter that was seen. */
	readonly after: string;
	/** Numbers before it that are still to be read, with the time since when, ms. */
	readonly missing: readonly Noted[];
	/** Those that were reported last, with the time at which. */
	readonly told: readonly Noted[];
}

type Noted = readonly [id: string, atMs: number];

export const BEGINNING: LetterPosition = { after: '0', missing: [], told: [] };

/**
 * The position after some more letters, which come in the order of their numbers. A number that is skipped belongs to a
 * letter that is not committed yet, or never will be: it is asked for until it comes, or for a day.
 */
export function moveOn(position: LetterPosition, seen: readonly string[], nowMs: number): LetterPosition {
	const there = new Set(seen);
	const awaited = position.missing.filter(([id, sinceMs]) => !there.has(id) && nowMs - sinceMs < LONGEST_TRANSACTION_MS);
	let last = BigInt(position.after);
	for (const id of seen.map(BigInt)) {
		if (id <= last) continue;
		// From the beginning on, what is not there has been deleted long ago. So has a long row of numbers.
		const skipped = last === 0n || id - last > MOST_SKIPPED ? [] : range(last + 1n, id);
		awaited.push(...skipped.map((gap): Noted => [gap, nowMs]));
		last = id;
	}
	return { ...position, after: String(last), missing: awaited.slice(-MOST_NOTED) };
}

/** These are being reported now. */
export function tell(position: LetterPosition, ids: readonly string[], nowMs: number): LetterPosition {
	const told = [...recent(position.told, nowMs), ...ids.map((id): Noted => [id, nowMs])];
	return { ...position, told: told.slice(-MOST_NOTED) };
}

/**
 * The position in another process than the one that reported last. That one may have died before anybody was told, so
 * what it reported in its last hour is read once more.
 */
export function afterRestart({ after, missing, told }: LetterPosition, nowMs: number): LetterPosition {
	const again = recent(told, nowMs).map(([id]): Noted => [id, nowMs]);
	return { after, missing: [...missing, ...again].slice(-MOST_NOTED), told: [] };
}

/** What n8n has kept; from the beginning where that is nothing, or nothing of ours. */
export function readPosition(kept: unknown): LetterPosition {
	const { after, missing, told } = (typeof kept === 'object' && kept !== null ? kept : {}) as Record<string, unknown>;
	if (typeof after !== 'string' || !NUMBER.test(after) || !Array.isArray(missing) || !Array.isArray(told)) return BEGINNING;
	return { after, missing: missing.filter(isNoted), told: told.filter(isNoted) };
}

const HOUR_MS = 3_600_000;
const LONGEST_TRANSACTION_MS = 24 * HOUR_MS;
const MOST_SKIPPED = 1000n;
const MOST_NOTED = 1000;
const NUMBER = /^\d{1,18}$/;

function recent(told: readonly Noted[], nowMs: number): readonly Noted[] {
	return told.filter(([, atMs]) => nowMs - atMs < HOUR_MS);
}

function range(from: bigint, to: bigint): string[] {
	return Array.from({ length: Number(to - from) }, (_, n) => String(from + BigInt(n)));
}

function isNoted(entry: unknown): entry is Noted {
	if (!Array.isArray(entry)) return false;
	const [id, atMs] = entry as unknown[];
	return typeof id === 'string' && NUMBER.test(id) && typeof atMs === 'number';
}
