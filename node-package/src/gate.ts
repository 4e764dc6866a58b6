import { StoreError } from './errors';
import type { ClaimAsk, Guard, Store, StoreReply } from './store/store';
import type { Core } from './wasm/core';
import type {
	CustomScheme,
	DecidePolicy,
	Decision,
	Header,
	KeyAnswer,
	KeySource,
	Refusal,
} from './wasm/generated/boundary';

/** One HTTP request from a provider. */
export interface Delivery {
	readonly headers: readonly Header[];
	/** The bytes as received; `null` where the host did not keep them. */
	readonly body: Uint8Array | null;
	readonly receivedAtMs: number;
}

/** How a delivery is judged. May differ from delivery to delivery. */
export interface GateRules {
	readonly provider: string;
	/** Given exactly when `provider` is `custom`. */
	readonly custom?: CustomScheme;
	/** `null` only where something before the gate has verified the request already, or nothing is signed. */
	readonly verification: { readonly secrets: readonly Uint8Array[]; readonly toleranceMs?: number } | null;
	readonly scope: string;
	readonly keySource: KeySource;
	/** A second key for the same fact; `null` for none. Empty is refused: it would be shared by unrelated events. */
	readonly businessKey: string | null;
	/** Also claim the body's digest, so that a captured body cannot come back under another id. */
	readonly guardBody: boolean;
	/** Overrides the type that the provider names. */
	readonly eventType?: string;
	readonly maxBodyBytes: number;
	readonly leaseMs: number;
	readonly maxAttempts: number;
	readonly unfinished: ClaimAsk['unfinished'];
	readonly payloadChanged: ClaimAsk['payloadChanged'];
	readonly policy: DecidePolicy;
}

/** A delivery at the gate. */
export interface Applicant {
	readonly delivery: Delivery;
	readonly rules: GateRules;
	/** Owner token, chosen before the first try and kept over retries of the same run. */
	readonly owner: string;
	readonly executionId: string | null;
}

export type DerivedKey = Omit<Extract<KeyAnswer, { type: 'key' }>, 'type' | 'bodyDigest'> & {
	/** `null` where the delivery came without its bytes. */
	readonly bodyDigest: string | null;
};

export interface Signature {
	readonly scheme: string;
	readonly secretIndex: number;
	readonly signedAtMs: number | null;
	readonly weak: boolean;
}

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
		const examined = applicants.map((applicant) => this.examine(applicant));
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

	/** Everything that can be known without the store. */
	private examine({ delivery, rules, owner, executionId }: Applicant): Examined {
		const { headers, body, receivedAtMs: nowMs } = delivery;
		const scheme = rules.custom ? { custom: rules.custom } : {};

		if (body === null && needsBody(rules)) return refusal(RAW_BODY_MISSING);
		if (body !== null && body.byteLength > rules.maxBodyBytes) return refusal(bodyTooLarge(body, rules.maxBodyBytes));
		const bytes = body ?? NO_BYTES;

		let signature: Signature | null = null;
		if (rules.verification) {
			const { secrets, toleranceMs } = rules.verification;
			const tolerance = toleranceMs === undefined ? {} : { toleranceMs };
			const request = { provider: rules.provider, ...scheme, headers, nowMs, ...tolerance };
			const answer = this.core.verify(request, bytes, secrets);
			if (answer.type !== 'verified') return refusal(answer);
			const { type: _, ...verified } = answer;
			signature = verified;
		}

		const request = { provider: rules.provider, ...scheme, scope: rules.scope, headers, nowMs };
		const derived = this.core.deriveKey({ ...request, source: rules.keySource }, bytes);
		if (derived.type !== 'key') return refusal(derived, signature);
		const { type: _, ...fields } = derived;
		const key: DerivedKey = {
			...fields,
			bodyDigest: body === null ? null : fields.bodyDigest,
			eventType: rules.eventType ?? fields.eventType,
		};

		const guards: Guard[] = [];
		if (rules.businessKey !== null) {
			// A business key obeys the same rules as a computed event id, long ones are hashed alike.
			const business = this.core.deriveKey({ ...request, source: { type: 'value', parts: [rules.businessKey] } }, bytes);
			if (business.type !== 'key') return refusal(aboutBusinessKey(business), signature, key);
			guards.push({ kind: 'business_key', key: business.eventId });
		}
		if (rules.guardBody && key.bodyDigest !== null) guards.push({ kind: 'body_digest', key: key.bodyDigest });

		const ask: ClaimAsk = {
			key: { scope: rules.scope, provider: rules.provider, eventId: key.eventId },
			eventType: key.eventType,
			owner,
			bodyDigest: key.bodyDigest,
			leaseMs: rules.leaseMs,
			maxAttempts: rules.maxAttempts,
			unfinished: rules.unfinished,
			payloadChanged: rules.payloadChanged,
			guards,
			executionId,
		};
		return { signature, key, ask, refusal: null };
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

interface Examined {
	readonly signature: Signature | null;
	readonly key: DerivedKey | null;
	/** `null` exactly when there is a refusal. */
	readonly ask: ClaimAsk | null;
	readonly refusal: Refusal | null;
}

const NO_BYTES = new Uint8Array(0);

function refusal(why: Refusal, signature: Signature | null = null, key: DerivedKey | null = null): Examined {
	return { signature, key, ask: null, refusal: why };
}

/** A computed key or a time slot on an unverified request is all that works without the bytes. */
function needsBody(rules: GateRules): boolean {
	const { type } = rules.keySource;
	return rules.verification !== null || rules.guardBody || (type !== 'value' && type !== 'time_slot');
}

const RAW_BODY_MISSING: Refusal = {
	type: 'rejected',
	code: 'raw_body_missing',
	message: 'The raw body of the request is missing',
	help: "Open the Webhook node, add the option 'Raw Body' and turn it on. A signature can only be checked against the exact bytes that were sent.",
};

function bodyTooLarge(body: Uint8Array, limit: number): Refusal {
	return {
		type: 'rejected',
		code: 'body_too_large',
		message: `The body of the request has ${body.byteLength} bytes, the limit is ${limit}`,
		help: 'Raise the body size limit if events of this size are expected.',
	};
}

function aboutBusinessKey(why: Refusal): Refusal {
	if (why.type === 'misconfigured') return why;
	return {
		type: 'rejected',
		code: 'business_key_invalid',
		message: 'The business key of this event is empty or cannot be used as a key',
		help: 'It must be a text of at least one character, without NUL, that names one fact, such as an order and its state.',
	};
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
