import type { Backoff } from '../../backoff';
import { StoreError } from '../../errors';

/** Everything that a caller can get wrong is refused before a shared statement is sent: there it would harm the others. */

export const OWNER = /^[0-9a-f]{32}$/;
export const FENCE = /^[1-9][0-9]{0,18}$/;
export const TEN_YEARS_MS = 315_360_000_000;

/** From `base_ms` on doubled with every attempt up to `cap_ms`, of which a part is taken; all the same for a fixed wait. */
export interface WireWait {
	readonly base_ms: number;
	readonly cap_ms: number;
	/** At least 0, below 1 for a backoff, and 1 for a fixed wait. */
	readonly part: number;
}

/** The random part is drawn here, as in `backoffMs`: stores differ in what randomness they have. */
export function wireWait(wait: number | Backoff): WireWait {
	if (typeof wait === 'number') {
		const fixed = whole('The backoff', wait, 0, TEN_YEARS_MS);
		return { base_ms: fixed, cap_ms: fixed, part: 1 };
	}
	const cap = whole('The cap of the backoff', wait.capMs, 1, TEN_YEARS_MS);
	return { base_ms: whole('The base of the backoff', wait.baseMs, 1, cap), cap_ms: cap, part: Math.random() };
}

export function ownerToken(token: string): string {
	return matching('The owner token', token, OWNER);
}

export function fenceNumber(fence: string): string {
	if (BigInt(matching('The fence', fence, FENCE)) < 2n ** 63n) return fence;
	throw refused(`The fence ${fence} is larger than any that was given out`);
}

export function leaseLength(ms: number): number {
	return whole('The lease', ms, 1, TEN_YEARS_MS);
}

export function attempts(most: number): number {
	return whole('The number of attempts', most, 1, 32_767);
}

/** 1 to `limit` bytes of UTF-8 without NUL and without half a character. */
export function keyText(what: string, text: string, limit: number): string {
	if (typeof text !== 'string') throw refused(`${what} is not a text`);
	if (text === '') throw refused(`${what} is empty`);
	if (text.includes('\0')) throw refused(`${what} holds NUL, which Postgres cannot store`);
	if (LONE_SURROGATE.test(text)) throw refused(`${what} holds half a character (a lone surrogate)`);
	const bytes = Buffer.byteLength(text);
	if (bytes > limit) throw refused(`${what} has ${bytes} bytes, the limit is ${limit}`);
	return text;
}

/** A text for people: must never be the reason to refuse a claim. */
export function cleaned(text: string | null, limit: number): string | null {
	if (text === null) return null;
	const whole = text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
	return whole.replaceAll(/\0|\p{Surrogate}/gu, '\uFFFD');
}

/** The 64 hex digits. */
export function digest(what: string, text: string): string {
	return matching(what, text, /^sha256:[0-9a-f]{64}$/).slice('sha256:'.length);
}

export function matching(what: string, text: string, pattern: RegExp): string {
	if (typeof text === 'string' && pattern.test(text)) return text;
	throw refused(`${what} is not of the form ${pattern.source}`);
}

export function whole(what: string, value: number, least: number, most: number): number {
	if (Number.isInteger(value) && value >= least && value <= most) return value;
	throw refused(`${what} is ${value}, but must be a whole number from ${least} to ${most}`);
}

/** JSON text of a result. */
export function json(value: unknown): string | null {
	if (value === undefined) return null;
	let text: string | undefined;
	try {
		text = JSON.stringify(value);
	} catch (cause) {
		throw refused('The result cannot be written as JSON', cause);
	}
	if (text === undefined) return null;
	if (text.length > RESULT_LIMIT) {
		throw refused(`The result has ${text.length} characters of JSON, the limit is ${RESULT_LIMIT}`);
	}
	return text;
}

export function refused(what: string, cause?: unknown): StoreError {
	const help = 'Nothing was sent to the store. Other claims are not affected.';
	return new StoreError('store_refused_key', what, help, { cause });
}

/** With the `u` flag a pair of surrogates is one character, so what is left is alone. */
const LONE_SURROGATE = /\p{Surrogate}/u;
const RESULT_LIMIT = 256 * 1024;
