import { StoreError } from './errors';
import { type Applicant, type DerivedKey, type Examined, examine, type Signature } from './examine';
import type { ClaimAsk, Store, StoreReply } from './store/store';
import type { Core } from './wasm/core';
import type { DecidePolicy, Decision, Refusal } from './wasm/generated/boundary';

/** The gate's full answer for one delivery. Exactly one of `claim`, `refusal` and `storeError` is set. */
export interface Admission {
	readonly decision: Decision;
	/** `null` where nothing was verified, or the signature was refused. */
	readonly signature: Signature | null;
	/** `null` where no key could be derived. */
	readonly key: DerivedKey | null;
	readonly claim: StoreReply | null;
	readonly refusal: Refusal | null;
	readonly storeError: StoreError | null;
}

/** Lets the first delivery of each event through: verify, derive the key, claim, decide. */
export class Gate {
	constructor(
		private readonly core: Core,
		private readonly store: Store,
	) {}

	/**
	 * Judges any number of deliveries with one round trip to the store. One answer each, in the order given. Whatever a
	 * sender, a user's settings or the store can do wrong is an answer; only a bug (`CoreError`) throws.
	 */
	async admit(applicants: readonly Applicant[]): Promise<Admission[]> {
		const examined = applicants.map((applicant) => examine(this.core, applicant));
		const claims = await this.claim(examined.flatMap(({ ask }) => ask ?? []));

		let next = 0;
		return examined.map((one, at) => {
			const { policy } = (applicants[at] as Applicant).rules;
			if (one.refusal) return this.refused(one, one.refusal, policy);
			const reply = claims[next++];
			if (reply instanceof StoreError) return this.failed(one, reply, policy);
			return reply ? this.answered(one, reply, policy) : this.failed(one, noReply(), policy);
		});
	}

	/** One reply or error per ask. One ask that cannot be stored does not take the others down with it. */
	private async claim(asks: readonly ClaimAsk[]): Promise<Array<StoreReply | StoreError>> {
		if (asks.length === 0) return [];
		try {
			return await this.store.claim(asks);
		} catch (cause) {
			const error = asStoreError(cause);
			if (error.code === 'store_refused_key' && asks.length > 1) {
				// Re-asking is safe: the owner tokens are the same.
				return (await Promise.all(asks.map((ask) => this.claim([ask])))).flat();
			}
			return asks.map(() => error);
		}
	}

	private refused(one: Examined, refusal: Refusal, policy: DecidePolicy): Admission {
		const decision = this.core.decide({ type: 'refused', code: refusal.code, policy });
		return { decision, signature: one.signature, key: one.key, claim: null, refusal, storeError: null };
	}

	private failed(one: Examined, storeError: StoreError, policy: DecidePolicy): Admission {
		const code = storeError.code === 'store_busy' ? 'store_busy' : 'store_unavailable';
		const decision = this.core.decide({ type: 'store_failed', code, policy });
		return { decision, signature: one.signature, key: one.key, claim: null, refusal: null, storeError };
	}

	private answered(one: Examined, claim: StoreReply, policy: DecidePolicy): Admission {
		const { verdict, state, retryAfterMs, payloadChanged } = claim;
		const decision = this.core.decide({ type: 'store', verdict, state, retryAfterMs, payloadChanged, policy });
		return { decision, signature: one.signature, key: one.key, claim, refusal: null, storeError: null };
	}
}

/** Anything unforeseen from a store is an unknown, and an unknown is never a claim. */
function asStoreError(cause: unknown): StoreError {
	if (cause instanceof StoreError) return cause;
	const help = 'Nothing is known about the claim. The event can be delivered again safely.';
	return new StoreError('store_unavailable', 'The store answered in an unforeseen way', help, { cause });
}

function noReply(): StoreError {
	return asStoreError(new Error('fewer replies than asks'));
}
