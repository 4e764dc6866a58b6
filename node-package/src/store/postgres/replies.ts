import { StoreError } from '../../errors';
import type { State, Verdict } from '../../wasm/generated/vocabulary';
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

/** The same key stood earlier in the same call, and `first` is its answer. */
export function sameBatch(first: StoreReply, earlier: WireAsk, later: WireAsk): StoreReply {
	const digests = [earlier.body_digest, later.body_digest];
	const payloadChanged = !digests.includes(null) && digests[0] !== digests[1];
	// The same body as one that was refused for its body is refused as well.
	if (first.verdict === 'payload_mismatch') return first;
	return { ...first, verdict: 'duplicate_in_batch', fence: null, payloadChanged, matchedOn: 'same_batch' };
}

export function settled(row: Row): SettleReply {
	return {
		verdict: text(row['verdict']) as SettleReply['verdict'],
		state: row['state'] === null ? null : state(row['state']),
	};
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

const STATES: Readonly<Record<string, State>> = {
	p: 'processing',
	f: 'failed',
	u: 'uncertain',
	c: 'completed',
	d: 'dead',
};

function state(letter: unknown): State {
	return STATES[text(letter)] ?? (text(null) as State);
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
