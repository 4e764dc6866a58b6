import type { StoreError } from './errors';
import type { ClaimAsk, Guard, Store, StoreReply } from './store/store';
import type { Core } from './wasm/core';
import type { CustomScheme, DecidePolicy, Decision, Header, KeyAnswer, KeySource, Refusal } from './wasm/generated/boundary';

/** One HTTP request from a provider. */
export interface Delivery {
	readonly headers: readonly Header[];
	/** The bytes as received; `null` where the host did not keep them. */
	readonly body: Uint8Array | null;
	readonly receivedAtMs: number;
}

/** How deliveries are judged. May differ from delivery to delivery. */
export interface GateRules {
	readonly provider: string;
	/** Given exactly when `provider` is `custom`. */
	readonly custom?: CustomScheme;
	/** `null` only where something before the gate has verified the request already, or nothing is signed. */
	readonly verification: { readonly secrets: readonly Uint8Array[]; readonly toleranceMs?: number } | null;
	readonly scope: string;
	readonly keySource: KeySource;
	/** A second key for the same fact; `null` for none. */
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

export interface Applicant {
	readonly delivery: Delivery;
	readonly rules: GateRules;
	/** Owner token, chosen before the first try and kept over retries of the same run. */
	readonly owner: string;
	readonly executionId: string | null;
}

export type DerivedKey = Extract<KeyAnswer, { type: 'key' }>;

export interface Signature {
	readonly scheme: string;
	readonly secretIndex: number;
	readonly signedAtMs: number | null;
	readonly weak: boolean;
}

/** The gate's full answer for one delivery. Exactly one of `claim`, `refusal`, `storeError` is set. */
export interface Admission {
	readonly decision: Decision;
	/** `null` where nothing was verified or the signature was refused. */
	readonly signature: Signature | null;
	/** `null` where no key could be derived. */
	readonly key: DerivedKey | null;
	readonly claim: StoreReply | null;
	readonly refusal: Refusal | null;
	readonly storeError: StoreError | null;
}
