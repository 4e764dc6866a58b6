import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from './errors';
import { type Applicant, type DerivedKey, type Examined, examine, type Signature } from './examine';
import type { ClaimAsk, Store, StoreReply } from './store/store';
import type { Core } from './wasm/core';
import type { DecidePolicy, Decision, Refusal } from './wasm/generated/boundary';
import type { Verdict } from './wasm/generated/vocabulary';

/** The gate's full answer for one delivery. Exactly one of `claim`, `refusal` and `storeError` is set. */
export interface Admission {
	readonly decision: Decision;
	/** `null` where nothing was verified, or the signature was refused. */
	readonly signature: Signature | null;
	/** `null` where no key could be derived. */
	readonly key: DerivedKey | null;
	readonly claim: StoreReply | null;
	/** Whether the delivery was given to the store with the claim. `false` also where it is too large. */
	readonly payloadSaved: boolean;
	readonly refusal: Refusal | null;
	readonly storeError: StoreError | null;
}

/** Lets the first delivery of each event through: verify, derive the key, claim, decide. */
export class Gate {
	constructor(
		private readonly core: Core,
		private readonly store: Pick<Store, 'claim'>,
	) {}

	/**
	 * Judges any number of deliveries with one round trip to the store. One answer each, in the order given. Whatever a
	 * sender, a user's settings or the store can do wrong is an answer; only a bug (`CoreError`) throws.
	 */
	async admit(applicants: readonly Applicant[]): Promise<Admission[]> {
		const examined = applicants.map((applicant) => examine(this.core, applicant));
		const asked = examined.flatMap(({ ask }, at): Asked[] => {
			return ask ? [{ ask, patienceMs: applicants[at]?.rules.waitForWinnerMs ?? 0 }] : [];
		});
		const claims = await this.waited(asked, await this.claim(asked.map(({ ask }) => ask)));

		let next = 0;
		return examined.map((one, at) => {
			const { policy } = (applicants[at] as Applicant).rules;
			if (one.refusal) return this.refused(one, one.refusal, policy);
			const reply = claims[next++];
			if (reply instanceof StoreError) return this.failed(one, reply, policy);
			return reply ? this.answered(one, reply, policy) : this.failed(one, noReply(), policy);
		});
	}

	/**
	 * One reply or error per ask. The store's call fails as a whole, also where most of its asks are claimed already and one
	 * key is stuck: so each is asked again alone, and what is claimed does not get lost in a neighbour's error.
	 */
	private async claim(asks: readonly ClaimAsk[]): Promise<Replies> {
		if (asks.length === 0) return [];
		try {
			return await this.store.claim(asks);
		} catch (cause) {
			const error = asStoreError(cause);
			if (error.code !== 'store_misconfigured' && asks.length > 1) {
				// The owner tokens are the same, so this learns the answer that the error hid.
				return (await Promise.all(asks.map((ask) => this.claim([ask])))).flat();
			}
			return asks.map(() => error);
		}
	}

	/**
	 * Asks again for those that met a live claim and are to wait for its end. With the same owner token, so it is the same
	 * ask: what the owner leaves behind becomes the asker's.
	 */
	private async waited(asked: readonly Asked[], first: Replies): Promise<Replies> {
		const began = performance.now();
		const replies = [...first];
		for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
			const passedMs = performance.now() - began;
			const waiting = asked.flatMap(({ ask, patienceMs }, at) => {
				const leftMs = patienceMs - passedMs;
				return leftMs > 0 && isLiveClaim(replies[at]) ? [{ ask, at, leftMs }] : [];
			});
			if (waiting.length === 0) return replies;
			await delay(Math.min(pauseMs, ...waiting.map(({ leftMs }) => leftMs)));
			const again = await this.claim(waiting.map(({ ask }) => ask));
			for (const [index, { at }] of waiting.entries()) replies[at] = again[index] ?? noReply();
		}
	}

	private refused(one: Examined, refusal: Refusal, policy: DecidePolicy): Admission {
		const decision = this.core.decide({ type: 'refused', code: refusal.code, policy });
		return { decision, signature: one.signature, key: one.key, claim: null, payloadSaved: false, refusal, storeError: null };
	}

	private failed(one: Examined, storeError: StoreError, policy: DecidePolicy): Admission {
		const code = storeError.code === 'store_busy' ? 'store_busy' : 'store_unavailable';
		const decision = this.core.decide({ type: 'store_failed', code, policy });
		return { decision, signature: one.signature, key: one.key, claim: null, payloadSaved: false, refusal: null, storeError };
	}

	private answered(one: Examined, claim: StoreReply, policy: DecidePolicy): Admission {
		const { verdict, state, retryAfterMs, payloadChanged } = claim;
		const decision = this.core.decide({ type: 'store', verdict, state, retryAfterMs, payloadChanged, policy });
		const payloadSaved = decision.claimed && one.ask?.payload !== undefined;
		return { decision, signature: one.signature, key: one.key, claim, payloadSaved, refusal: null, storeError: null };
	}
}

interface Asked {
	readonly ask: ClaimAsk;
	/** How long it may wait for the end of a rival's claim. */
	readonly patienceMs: number;
}

type Replies = Array<StoreReply | StoreError>;

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

function isLiveClaim(reply: StoreReply | StoreError | undefined): boolean {
	return reply !== undefined && !(reply instanceof StoreError) && LIVE.has(reply.verdict) && reply.state === 'processing';
}

/** Verdicts about a record that somebody else may be working on. */
const LIVE: ReadonlySet<Verdict> = new Set(['in_progress', 'business_duplicate', 'body_duplicate']);

/** Anything unforeseen from a store is an unknown, and an unknown is never a claim. */
function asStoreError(cause: unknown): StoreError {
	if (cause instanceof StoreError) return cause;
	const help = 'Nothing is known about the claim. The event can be delivered again safely.';
	return new StoreError('store_unavailable', 'The store answered in an unforeseen way', help, { cause });
}

function noReply(): StoreError {
	return asStoreError(new Error('fewer replies than asks'));
}
