import type { Backoff } from '../../backoff';
import { StoreError } from '../../errors';
import type { ClaimAsk, EventKey, Guard, Settle } from '../store';

/**
 * What crosses to the statements, as JSON: one parameter, whatever the driver makes of arrays. Everything a caller can
 * get wrong is refused here, before a shared statement is sent: there it would harm the others.
 */
export interface WireAsk {
	readonly scope: string;
	readonly provider: string;
	readonly event_id: string;
	readonly event_type: string | null;
	readonly owner: string;
	/** 64 hex digits. */
	readonly body_digest: string | null;
	readonly lease_ms: number;
	readonly max_attempts: number;
	readonly on_claim: boolean;
	readonly on_hold: boolean;
	readonly reject_changed: boolean;
	readonly execution_id: string | null;
	readonly guards: readonly WireGuard[];
}

export interface WireGuard {
	readonly ord: number;
	/** k: business key, d: body digest. */
	readonly kind: 'k' | 'd';
	/** Empty for a business key. */
	readonly provider: string;
	/** Hex of the bytes. */
	readonly key: string;
}

export interface WireEnd {
	readonly scope: string;
	readonly provider: string;
	readonly event_id: string;
	readonly owner: string;
	readonly fence: string;
	readonly state: 'c' | 'f' | 'u' | 'd';
	readonly error: string | null;
	readonly wait: WireWait | null;
	/** `null`: what the claim was made with. */
	readonly max_attempts: number | null;
	/** JSON text. */
	readonly result: string | null;
}

/** From `base_ms` on doubled with every attempt up to `cap_ms`, of which a part is taken; all the same for a fixed wait. */
export interface WireWait {
	readonly base_ms: number;
	readonly cap_ms: number;
	/** At least 0, below 1 for a backoff, and 1 for a fixed wait. */
	readonly part: number;
}

export function wireAsk(ask: ClaimAsk): WireAsk {
	return {
		...wireKey(ask.key),
		event_type: cleaned(ask.eventType, 200),
		owner: matching('The owner token', ask.owner, OWNER),
		body_digest: ask.bodyDigest === null ? null : digest('The body digest', ask.bodyDigest),
		lease_ms: whole('The lease', ask.leaseMs, 1, TEN_YEARS_MS),
		max_attempts: whole('The number of attempts', ask.maxAttempts, 1, 32_767),
		on_claim: ask.unfinished === 'complete_on_claim',
		on_hold: ask.unfinished === 'hold',
		reject_changed: ask.payloadChanged === 'reject',
		execution_id: cleaned(ask.executionId, 200),
		guards: distinct(ask.guards.map((guard) => wireGuard(guard, ask.key.provider))),
	};
}

export function wireEnd({ key, owner, fence, to }: Settle): WireEnd {
	const failed = to.state === 'failed';
	return {
		...wireKey(key),
		owner: matching('The owner token', owner, OWNER),
		fence: matching('The fence', fence, FENCE),
		state: STATE_LETTERS[to.state],
		error: to.state === 'completed' ? null : cleaned(to.error, 2000),
		wait: failed ? wireWait(to.retryAfterMs) : null,
		max_attempts: failed && to.maxAttempts !== null ? whole('The number of attempts', to.maxAttempts, 1, 32_767) : null,
		result: to.state === 'completed' ? json(to.result) : null,
	};
}

export function wireKey({ scope, provider, eventId }: EventKey): Pick<WireAsk, 'scope' | 'provider' | 'event_id'> {
	return {
		scope: keyText('The scope', scope, 512),
		provider: keyText('The provider', provider, 200),
		event_id: keyText('The event ID', eventId, 512),
	};
}

/** The same text for the same key and no other: no field can hold NUL. */
export function keyName({ scope, provider, event_id }: Pick<WireAsk, 'scope' | 'provider' | 'event_id'>): string {
	return `${scope}\0${provider}\0${event_id}`;
}

/** Everything that an ask would write to. Guards live apart from events, hence the fourth part of their names. */
export function keysOf(ask: WireAsk): string[] {
	const guards = ask.guards.map(({ kind, provider, key }) => `${ask.scope}\0${provider}\0${key}\0${kind}`);
	return [keyName(ask), ...guards];
}

export const OWNER = /^[0-9a-f]{32}$/;
export const FENCE = /^[1-9][0-9]{0,18}$/;
export const TEN_YEARS_MS = 315_360_000_000;
const RESULT_LIMIT = 256 * 1024;
const STATE_LETTERS = { completed: 'c', failed: 'f', uncertain: 'u', dead: 'd' } as const;

/** The random part is drawn here, as in `backoffMs`: stores differ in what randomness they have. */
export function wireWait(wait: number | Backoff): WireWait {
	if (typeof wait === 'number') {
		const fixed = whole('The backoff', wait, 0, TEN_YEARS_MS);
		return { base_ms: fixed, cap_ms: fixed, part: 1 };
	}
	const cap = whole('The cap of the backoff', wait.capMs, 1, TEN_YEARS_MS);
	return { base_ms: whole('The base of the backoff', wait.baseMs, 1, cap), cap_ms: cap, part: Math.random() };
}

function wireGuard({ kind, key }: Guard, provider: string): Omit<WireGuard, 'ord'> {
	if (kind === 'body_digest') return { kind: 'd', provider, key: digest('The body digest', key) };
	return { kind: 'k', provider: '', key: Buffer.from(keyText('The business key', key, 512)).toString('hex') };
}

function distinct(guards: ReadonlyArray<Omit<WireGuard, 'ord'>>): WireGuard[] {
	const byName = new Map(guards.map((guard) => [`${guard.kind}${guard.key}`, guard]));
	return [...byName.values()].map((guard, ord) => ({ ord, ...guard }));
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

/** With the `u` flag a pair of surrogates is one character, so what is left is alone. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** A text for people: must never be the reason to refuse a claim. */
export function cleaned(text: string | null, limit: number): string | null {
	if (text === null) return null;
	const whole = text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
	return whole.replaceAll(/\0|\p{Surrogate}/gu, '\uFFFD');
}

function digest(what: string, text: string): string {
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

function json(value: unknown): string | null {
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
