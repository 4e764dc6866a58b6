import type { Backoff } from '../backoff';
import type { State } from '../wasm/generated/vocabulary';
import type { Payload } from './payload';
import type { EventKey, StoredClaim } from './store';

/**
 * What happens to a claim between its making and its end, apart from the end itself (`Store.settle`). The rules of
 * `Store` hold here as well: one atomic step each, one reply per ask in the order asked, an unknown is an error.
 */
export interface Lifecycle {
	/** Begins the lease anew. Also where it is over, as long as nobody has taken over. */
	extend(leases: readonly Extension[]): Promise<ExtensionReply[]>;

	/**
	 * Moves a claim to a later stage of the caller's list, never back. If the answer is lost, it is an error and the store
	 * does not ask again by itself: asked again, a step that was taken is `already_there`, as if somebody else had taken it.
	 * The caller decides, and can know by the record's stage before the first try whether the step is due (`Store.find`).
	 */
	advance(steps: readonly Step[]): Promise<StepReply[]>;

	/**
	 * Takes over what nobody works on any more, oldest first: claims whose lease is over, and failed ones that are due.
	 * Callers at the same time get different ones (nobody waits for a record that another caller is at). Never touches a
	 * live lease or what has ended. What cannot be handed out is ended here as well and reported: held, exhausted,
	 * superseded.
	 *
	 * Of saved deliveries one call takes 16 MB at most, but one record in any case, and leaves the others to the next call.
	 * Of tests (scopes that begin with `test:`) it looks only at what was first seen within a day: what was left behind in
	 * the editor is not worth looking for.
	 *
	 * If the answer is lost, what was taken over is handed out again when its lease is over.
	 */
	recover(search: RecoverySearch): Promise<Recovered[]>;

	/** T14: a person has a finished event handled once more. The caller becomes its owner, with a new fence. */
	reopen(orders: readonly Reopening[]): Promise<ReopeningReply[]>;

	/** T13: a person says what became of an event whose outcome was uncertain. */
	resolve(orders: readonly Resolution[]): Promise<ResolutionReply[]>;

	/**
	 * The claims whose present owner is this execution, newest first, at most `limit`. With `unfinished` only those that
	 * are processing, which is quick however large the store is. Of tests these are found for an hour at least, and no more.
	 */
	findByExecution(search: {
		readonly executionId: string;
		readonly unfinished: boolean;
		readonly limit: number;
	}): Promise<StoredClaim[]>;

	/** Reads records, for people and tests; never a basis for a claim. */
	list(filter: ClaimFilter): Promise<StoredClaim[]>;

	/**
	 * What became uncertain or dead, in the order in which it did, from a number on: for those who tell people. Every time
	 * that an event does so has a number of its own, in growing order. One that is drawn later may be seen earlier, so a
	 * number that is skipped may still come: asked for as `missing`, it is not lost. Of saved deliveries one call gives 16 MB
	 * at most, but one letter in any case: fewer than `limit` do not mean that there are no more.
	 */
	deadLetters(search: DeadLetterSearch): Promise<DeadLetter[]>;

	/** What was saved with the claim (`ClaimAsk.payload`); `null` where there is nothing, or nothing any more. */
	findPayload(key: EventKey): Promise<Payload | null>;
}

/** Names one ownership of one claim: a fresh one needs the newest fence. */
export interface Ownership {
	readonly key: EventKey;
	/** 32 hex digits. */
	readonly owner: string;
	/** Decimal digits of a 64-bit number. */
	readonly fence: string;
}

export interface Extension extends Ownership {
	/** From now on, ms. */
	readonly leaseMs: number;
}

export interface ExtensionReply {
	/** `fenced_out`: not this owner's, or not processing; nothing changed. */
	readonly verdict: 'extended' | 'fenced_out';
	/** After the step; `null` where no record exists. */
	readonly state: State | null;
	/** `null` unless extended. */
	readonly leaseUntilMs: number | null;
}

export interface Step extends Ownership {
	/** Where to move. One of `stages`. */
	readonly stage: string;
	/** All stages in their order, 1 to 50 different ones of 1 to 100 characters. */
	readonly stages: readonly string[];
}

export interface StepReply {
	/**
	 * - `advanced`: it was at an earlier stage, or at none.
	 * - `already_there`: it was at this stage or a later one; nothing changed.
	 * - `unknown_stage`: the record's stage is not in the list; nothing changed.
	 * - `fenced_out`: not this owner's, or not processing; nothing changed.
	 */
	readonly verdict: 'advanced' | 'already_there' | 'unknown_stage' | 'fenced_out';
	readonly state: State | null;
	/** After the step. */
	readonly stage: string | null;
	readonly stageBefore: string | null;
}

export interface RecoverySearch {
	/** `stale`: processing, with its lease over. `failed`: failed, and due. */
	readonly which: 'failed' | 'stale' | 'both';
	/** At most so many records are touched; fewer where their saved deliveries are large. */
	readonly limit: number;
	/** One fresh owner token per record that may be handed out: at least `limit`. */
	readonly owners: readonly string[];
	/** `null`: in all scopes but those of tests, whose names begin with `test:`. */
	readonly scope: string | null;
	/** With no scope: in those of tests and no others. */
	readonly tests?: boolean;
	/** `null`: of all providers. */
	readonly provider: string | null;
	readonly leaseMs: number;
	/** `null`: what the claim was made with. */
	readonly maxAttempts: number | null;
	/** `hold` makes stale ones `uncertain`. Claims that were made with `hold` are held in any case. */
	readonly unfinished: 'take_over' | 'hold';
	readonly executionId: string | null;
}

/** A record as `recover` left it. */
export interface Recovered {
	readonly key: EventKey;
	/**
	 * - `taken_over` (was stale), `retried` (had failed): the caller's now, with `owner` and `fence`.
	 * - `held`: uncertain now. `exhausted`: dead now.
	 * - `superseded`: completed now, since a newer event for the same object was completed (`ClaimAsk.subject`).
	 */
	readonly verdict: 'taken_over' | 'retried' | 'held' | 'exhausted' | 'superseded';
	readonly state: State;
	/** `null` unless it is the caller's. */
	readonly owner: string | null;
	readonly fence: string | null;
	readonly attempt: number;
	readonly stage: string | null;
	readonly eventType: string | null;
	readonly firstSeenAtMs: number;
	readonly leaseUntilMs: number | null;
	/** Of the owner before. */
	readonly executionIdBefore: string | null;
	/** Of the attempt before. */
	readonly error: string | null;
	readonly payload: Payload | null;
}

export interface Reopening {
	readonly key: EventKey;
	/** Kept in the record's `error`, for people. */
	readonly reason: string;
	/** A fresh token. Asked again with the same token after a lost answer, it is `reopened` once more, with the same fence. */
	readonly owner: string;
	readonly leaseMs: number;
	readonly executionId: string | null;
}

export interface ReopeningReply {
	/**
	 * - `reopened`: the caller's now.
	 * - `not_finished`: processing or failed: it is being seen to already.
	 * - `guard_taken`: another event holds one of its guard keys by now; nothing changed.
	 * - `not_found`: no record.
	 */
	readonly verdict: 'reopened' | 'not_finished' | 'guard_taken' | 'not_found';
	readonly state: State | null;
	/** `null` unless reopened. */
	readonly fence: string | null;
	readonly attempt: number | null;
	readonly stage: string | null;
	readonly eventType: string | null;
	readonly firstSeenAtMs: number | null;
	readonly leaseUntilMs: number | null;
	readonly payload: Payload | null;
}

export interface Resolution {
	readonly key: EventKey;
	/** Of the record that the person has looked at; `null`: whichever it is now. */
	readonly fence: string | null;
	readonly to:
		| { readonly state: 'completed'; readonly result?: unknown }
		| { readonly state: 'failed'; readonly retryAfterMs: number | Backoff }
		| { readonly state: 'dead' };
	/** Kept in the record's `error`, for people. */
	readonly reason: string;
}

export interface ResolutionReply {
	/** `already`: it is in this state, as after a try whose answer was lost. `fenced_out`: it has another fence by now. */
	readonly verdict: 'resolved' | 'already' | 'not_uncertain' | 'fenced_out' | 'not_found';
	readonly state: State | null;
}

export interface DeadLetterSearch {
	/** Number of the last letter that was seen; `0`: from the beginning. */
	readonly after: string;
	/** Numbers before it that were not there. */
	readonly missing: readonly string[];
	readonly limit: number;
}

export interface DeadLetter {
	/** Decimal digits of a 64-bit number. */
	readonly id: string;
	/** As it is now; `null` where the event has gone on since or is not there any more. */
	readonly claim: StoredClaim | null;
	readonly payload: Payload | null;
}

/** All given conditions must hold. */
export interface ClaimFilter {
	/** Empty: all states. */
	readonly states: readonly State[];
	readonly scope: string | null;
	readonly provider: string | null;
	readonly eventType: string | null;
	/** Bounds of the first delivery, ms since the epoch: from (inclusive) to (exclusive). */
	readonly fromMs: number | null;
	readonly toMs: number | null;
	/** Newest first. */
	readonly limit: number;
}
