import type { Backoff } from '../backoff';
import type { State, Verdict } from '../wasm/generated/vocabulary';
import type { Lifecycle } from './lifecycle';
import type { Outbox, OutboxMessage } from './outbox';
import type { Payload } from './payload';

/**
 * What a store must do. Three rules hold for every implementation, and `src/testing/store-laws.ts` judges them:
 *
 * 1. One atomic step decides a claim. A grant is always made on the newest version of the record, under its lock.
 * 2. Every ask gets exactly one reply, in the order asked.
 * 3. An unknown is an error (`StoreError`), never a verdict.
 *
 * Times are the store's own clock; durations cross as milliseconds.
 */
export interface Store extends Lifecycle, Outbox {
	/** Creates or upgrades what the store needs. Safe from many processes at once; cheap when there is nothing to do. */
	prepare(): Promise<void>;

	/**
	 * Claims any number of keys in one round trip. The same key twice in one call: the first ask decides, the others are
	 * `duplicate_in_batch`. An ask repeated with the same owner token is `reentrant`: that is how a caller learns the
	 * outcome of a claim whose answer was lost.
	 */
	claim(asks: readonly ClaimAsk[]): Promise<StoreReply[]>;

	/** Ends claims. Fenced: an owner that lost its claim changes nothing and is told `fenced_out`. */
	settle(ends: readonly Settle[]): Promise<SettleReply[]>;

	/** Reads one record, for people and tests; never a basis for a claim. */
	find(key: EventKey): Promise<StoredClaim | null>;

	/** Releases connections. Claims in flight end with `store_unavailable`. */
	close(): Promise<void>;
}

/** Three fields, never a joined string: `("ab","c")` is not `("a","bc")`. */
export interface EventKey {
	/** Who consumes the event, e.g. `workflow:Ab3`. 1 to 512 bytes of UTF-8. */
	readonly scope: string;
	/** Key of the provider table, e.g. `stripe`. */
	readonly provider: string;
	/** 1 to 512 bytes of UTF-8, compared byte for byte. */
	readonly eventId: string;
}

/** A second unique key, claimed in the same step as the event key, or not at all. */
export interface Guard {
	readonly kind: 'business_key' | 'body_digest';
	/** 1 to 512 bytes of UTF-8. A business key is unique within the scope, a body digest within scope and provider. */
	readonly key: string;
}

export interface ClaimAsk {
	readonly key: EventKey;
	readonly eventType: string | null;
	/** 32 hex digits from `newToken()`, chosen before the first try and kept over retries of the same node run. */
	readonly owner: string;
	/** `sha256:` + hex of the raw body, or `null` where there is none to compare. */
	readonly bodyDigest: string | null;
	/** How long the owner may be silent before another may take over. */
	readonly leaseMs: number;
	/** At this many attempts an unfinished claim becomes `dead` instead of being handed out again. */
	readonly maxAttempts: number;
	/**
	 * What an unfinished claim means once its lease is over.
	 * - `take_over`: the next delivery owns it.
	 * - `hold`: it becomes `uncertain` and waits for a person.
	 * - `complete_on_claim`: there is no lease; the claim is stored as completed when it is made.
	 */
	readonly unfinished: 'take_over' | 'hold' | 'complete_on_claim';
	/** Same key, other body: still a duplicate (flagged), or refused as `payload_mismatch`. */
	readonly payloadChanged: 'duplicate' | 'reject';
	readonly guards: readonly Guard[];
	/** For people, e.g. n8n's execution id. */
	readonly executionId: string | null;
	/**
	 * The delivery, for the recovery. Saved with the claim; what an earlier delivery of the event saved stays. Not saved
	 * with `complete_on_claim`, which is never recovered.
	 */
	readonly payload?: SavedPayload;
	/**
	 * What the event is about, and how new it is. An event that is older than the newest completed one for the same object
	 * is `superseded` and not claimed. Equally new ones are let through.
	 */
	readonly subject?: Subject;
	/** Stored in one transaction with the claim, if it becomes the asker's. */
	readonly outbox?: readonly OutboxMessage[];
}

export interface SavedPayload extends Payload {
	/** `until_completed`: deleted in the step that completes the claim. `always`: as long as the record. */
	readonly keep: 'until_completed' | 'always';
}

export interface Subject {
	/** The object, e.g. `subscription:sub_1`. Unique within the scope, 1 to 512 bytes of UTF-8. */
	readonly key: string;
	/** Grows with every change of the object: a version or a time. Decimal: 1 to 30 digits, and up to 9 after a point. */
	readonly version: string;
}

export interface StoreReply {
	readonly verdict: Verdict;
	/** State of the record after the step. For a guard's duplicate: of the record that holds the guard. */
	readonly state: State;
	/** Decimal digits of a 64-bit number; the receipt for `settle`. Only on a claim that is ours; `null` otherwise. */
	readonly fence: string | null;
	readonly attempt: number;
	/** Milliseconds since the epoch, by the store's clock. */
	readonly firstSeenAtMs: number;
	/** `null` where there is no lease (settled, or completed when claimed). */
	readonly leaseUntilMs: number | null;
	readonly completedAtMs: number | null;
	/** Rest of a rival's lease or of the backoff, at least 0; `null` on our own claim and on settled ones. */
	readonly retryAfterMs: number | null;
	/** True when the stored digest and the ask's are both known and differ. */
	readonly payloadChanged: boolean;
	/** Which key matched: `null` on a claim that is ours. */
	readonly matchedOn: 'event_id' | 'business_key' | 'body_digest' | 'same_batch' | null;
	/** Who claimed it, for people. */
	readonly claimedBy: { readonly executionId: string | null; readonly atMs: number };
	/** What `settle` stored with `completed`; `null` otherwise. */
	readonly result: unknown;
	/** How far an earlier owner came (`Lifecycle.advance`). */
	readonly stage: string | null;
}

export interface Settle {
	readonly key: EventKey;
	readonly owner: string;
	readonly fence: string;
	readonly to:
		| {
				readonly state: 'completed';
				readonly result?: unknown;
				/** Stored in one transaction with the end. */
				readonly outbox?: readonly OutboxMessage[];
				/**
				 * The same attempt, which had been marked as failed, was resumed and is done: also completes a failed claim, as
				 * long as nobody has taken it over.
				 */
				readonly resumed?: boolean;
		  }
		| {
				readonly state: 'failed';
				readonly error: string;
				readonly retryAfterMs: number | Backoff;
				/** `null`: what the claim was made with. */
				readonly maxAttempts: number | null;
		  }
		| { readonly state: 'uncertain'; readonly error: string }
		| { readonly state: 'dead'; readonly error: string };
}

export interface SettleReply {
	/**
	 * - `settled`: done now. `late`: done now, though the lease was over (nobody had taken over).
	 * - `already`: this owner had settled it before to the same state, or it was completed when it was claimed. Of a
	 *   completed one the messages are stored all the same, each key once, and the result if there is none yet.
	 * - `fenced_out`: the claim is not this owner's; nothing changed.
	 */
	readonly verdict: 'settled' | 'late' | 'already' | 'fenced_out';
	/** State after the step; `null` where no record exists. A failure with no attempts left ends as `dead`. */
	readonly state: State | null;
}

export interface StoredClaim {
	readonly key: EventKey;
	readonly state: State;
	readonly eventType: string | null;
	readonly attempt: number;
	readonly fence: string;
	readonly firstSeenAtMs: number;
	readonly claimedAtMs: number;
	readonly leaseUntilMs: number | null;
	readonly nextAttemptAtMs: number | null;
	readonly completedAtMs: number | null;
	readonly bodyDigest: string | null;
	readonly executionId: string | null;
	/** Of the failure, or the reason a person gave. */
	readonly error: string | null;
	readonly result: unknown;
	/** Owner token of the present owner. With `fence` it is his receipt: keep it from people's eyes. */
	readonly owner: string;
	readonly stage: string | null;
}
