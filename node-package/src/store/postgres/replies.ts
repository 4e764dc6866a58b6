import { StoreError } from '../../errors';
import type { State, Verdict } from '../../wasm/generated/vocabulary';
import type { ExtensionReply, Recovered, ReopeningReply, ResolutionReply, StepReply } from '../lifecycle';
import type { Payload } from '../payload';
import type { EventKey, SettleReply, StoredClaim, StoreReply } from '../store';
import type { WireAsk } from './asks';

export type Row = Readonly<Record<string, unknown>>;

/** A claim that is the asker's own now. */
export function granted(verdict: Verdict, row: Row, ask: WireAsk): StoreReply {
	return {
		...record(row),
		verdict,
		fence: text(row['fence']),
		retryAfterMs: null,
		payloadChanged: row['payload_changed'] === true,
		matchedOn: null,
		claimedBy: { executionId: ask.execution_id, atMs: number(row['claimed_ms']) },
		result: null,
	};
}

/** Somebody else's claim, or a settled one. */
export function refused(verdict: Verdict, row: Row, matchedOn: StoreReply['matchedOn']): StoreReply {
	return {
		...record(row),
		verdict,
		fence: null,
		retryAfterMs: numberOrNull(row['retry_after_ms']),
		payloadChanged: row['payload_changed'] === true,
		matchedOn,
		claimedBy: { executionId: textOrNull(row['execution_id']), atMs: number(row['claimed_ms']) },
		result: parsed(row['result']),
	};
}

/** Refused before there was a record, and none was made. */
export function neverClaimed(verdict: 'superseded', row: Row): StoreReply {
	const nowMs = number(row['now_ms']);
	return {
		verdict,
		state: 'completed',
		fence: null,
		attempt: 0,
		firstSeenAtMs: nowMs,
		leaseUntilMs: null,
		completedAtMs: null,
		retryAfterMs: null,
		payloadChanged: false,
		matchedOn: null,
		claimedBy: { executionId: null, atMs: nowMs },
		result: null,
		stage: null,
	};
}

/** The same key stood earlier in the same call, and `first` is its answer. */
export function sameBatch(first: StoreReply, earlier: WireAsk, later: WireAsk): StoreReply {
	const digests = [earlier.body_digest, later.body_digest];
	const payloadChanged = !digests.includes(null) && digests[0] !== digests[1];
	// The same body as one that was refused for its body is refused as well.
	if (first.verdict === 'payload_mismatch') return first;
	return { ...first, verdict: 'duplicate_in_batch', fence: null, payloadChanged, matchedOn: 'same_batch' };
}

export function settled(row: Row): SettleReply {
	return { verdict: verdict<SettleReply>(row), state: stateOrNull(row['state']) };
}

export function extended(row: Row): ExtensionReply {
	return {
		verdict: verdict<ExtensionReply>(row),
		state: stateOrNull(row['state']),
		leaseUntilMs: numberOrNull(row['lease_ms']),
	};
}

export function advanced(row: Row): StepReply {
	return {
		verdict: verdict<StepReply>(row),
		state: stateOrNull(row['state']),
		stage: textOrNull(row['stage']),
		stageBefore: textOrNull(row['stage_before']),
	};
}

export function reopened(row: Row): ReopeningReply {
	return {
		verdict: verdict<ReopeningReply>(row),
		state: stateOrNull(row['state']),
		fence: textOrNull(row['fence']),
		attempt: numberOrNull(row['attempt']),
		stage: textOrNull(row['stage']),
		eventType: textOrNull(row['event_type']),
		firstSeenAtMs: numberOrNull(row['first_seen_ms']),
		leaseUntilMs: numberOrNull(row['lease_ms']),
		payload: payloadOf(row),
	};
}

export function resolved(row: Row): ResolutionReply {
	return { verdict: verdict<ResolutionReply>(row), state: stateOrNull(row['state']) };
}

export function recovered(row: Row): Recovered {
	return {
		key: keyOf(row),
		verdict: verdict<Recovered>(row),
		state: state(row['state']),
		owner: textOrNull(row['owner']),
		fence: textOrNull(row['fence']),
		attempt: number(row['attempt']),
		stage: textOrNull(row['stage']),
		eventType: textOrNull(row['event_type']),
		firstSeenAtMs: number(row['first_seen_ms']),
		leaseUntilMs: numberOrNull(row['lease_ms']),
		executionIdBefore: textOrNull(row['execution_id_before']),
		error: textOrNull(row['error']),
		payload: payloadOf(row),
	};
}

/** What was saved with the claim: `headers` as JSON text, `body` as base64. */
export function payloadOf(row: Row): Payload | null {
	const [headers, body] = [textOrNull(row['headers']), textOrNull(row['body'])];
	if (headers === null || body === null) return null;
	return { headers: JSON.parse(headers) as Payload['headers'], body: new Uint8Array(Buffer.from(body, 'base64')) };
}

export function keyOf(row: Row): EventKey {
	return { scope: text(row['scope']), provider: text(row['provider']), eventId: text(row['event_id']) };
}

export function stored(key: EventKey, row: Row): StoredClaim {
	const digest = textOrNull(row['body_digest']);
	return {
		key,
		state: state(row['state']),
		eventType: textOrNull(row['event_type']),
		attempt: number(row['attempt']),
		fence: text(row['fence']),
		firstSeenAtMs: number(row['first_seen_ms']),
		claimedAtMs: number(row['claimed_ms']),
		leaseUntilMs: numberOrNull(row['lease_ms']),
		nextAttemptAtMs: numberOrNull(row['next_attempt_ms']),
		completedAtMs: numberOrNull(row['completed_ms']),
		bodyDigest: digest === null ? null : `sha256:${digest}`,
		executionId: textOrNull(row['execution_id']),
		error: textOrNull(row['error']),
		result: parsed(row['result']),
		owner: text(row['owner']),
		stage: textOrNull(row['stage']),
	};
}

/** Drivers differ in what they make of numbers and json, so the statements give text. Anything else is not an answer. */
export function text(value: unknown): string {
	if (typeof value === 'string') return value;
	throw unforeseen('The Postgres store answered in an unforeseen form');
}

/** Not an answer, so nothing is known. */
export function unforeseen(what: string): StoreError {
	return new StoreError('store_unavailable', what, 'Please report this as a bug. Nothing is known about the claim.');
}

export function number(value: unknown): number {
	const parsedNumber = typeof value === 'number' ? value : Number(text(value));
	return Number.isFinite(parsedNumber) ? parsedNumber : Number(text(null));
}

function record(row: Row): Pick<StoreReply, 'state' | 'attempt' | 'firstSeenAtMs' | 'leaseUntilMs' | 'completedAtMs' | 'stage'> {
	return {
		state: state(row['state']),
		attempt: number(row['attempt']),
		firstSeenAtMs: number(row['first_seen_ms']),
		leaseUntilMs: numberOrNull(row['lease_ms']),
		completedAtMs: numberOrNull(row['completed_ms']),
		stage: textOrNull(row['stage']),
	};
}

/** What the database calls the states. */
export const STATE_LETTERS = { processing: 'p', failed: 'f', uncertain: 'u', completed: 'c', dead: 'd' } as const;

const STATES = new Map(Object.entries(STATE_LETTERS).map(([word, letter]) => [letter as string, word as State]));

function state(letter: unknown): State {
	return STATES.get(text(letter)) ?? (text(null) as State);
}

function stateOrNull(letter: unknown): State | null {
	return letter === null || letter === undefined ? null : state(letter);
}

function verdict<Reply extends { readonly verdict: string }>(row: Row): Reply['verdict'] {
	return text(row['verdict']);
}

export function textOrNull(value: unknown): string | null {
	return value === null || value === undefined ? null : text(value);
}

export function numberOrNull(value: unknown): number | null {
	return value === null || value === undefined ? null : number(value);
}

function parsed(value: unknown): unknown {
	return value === null || value === undefined ? null : (JSON.parse(text(value)) as unknown);
}
