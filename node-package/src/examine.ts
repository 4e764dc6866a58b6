import { savedHeaders } from './savedHeaders';
import type { OutboxMessage } from './store/outbox';
import type { ClaimAsk, Guard, SavedPayload, Subject } from './store/store';
import type { Core } from './wasm/core';
import type { CustomScheme, DecidePolicy, Header, KeyAnswer, KeySource, Refusal } from './wasm/generated/boundary';

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
	/** Saves the delivery with its claim, up to so many bytes of body, so that the recovery can hand it out again. */
	readonly savePayload?: { readonly keep: SavedPayload['keep']; readonly maxBytes: number };
	/** What the event is about and how new it is: one that is older than what was done already is `superseded`. */
	readonly subject?: Subject;
	/** Messages to be stored together with the claim, if it is made. */
	readonly outbox?: readonly ClaimMessage[];
	/**
	 * A duplicate that meets a live claim waits so long for its end, ms, and then has its result; if the owner falls
	 * silent, it takes over. Default 0. Every waiting delivery asks the store about once a second.
	 */
	readonly waitForWinnerMs?: number;
}

/** A message of the claim's own scope. */
export type ClaimMessage = Omit<OutboxMessage, 'scope' | 'messageKey'> & {
	/** `null`: made of the event's key for calls downstream and the topic. */
	readonly messageKey: string | null;
};

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

/** A delivery as far as it is known without the store. */
export interface Examined {
	readonly signature: Signature | null;
	readonly key: DerivedKey | null;
	/** `null` exactly when there is a refusal. */
	readonly ask: ClaimAsk | null;
	readonly refusal: Refusal | null;
}

/** Everything that can be known without the store. */
export function examine(core: Core, { delivery, rules, owner, executionId }: Applicant): Examined {
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
		const answer = core.verify(request, bytes, secrets);
		if (answer.type !== 'verified') return refusal(answer);
		const { type: _, ...verified } = answer;
		signature = verified;
	}

	const request = { provider: rules.provider, ...scheme, scope: rules.scope, headers, nowMs };
	const derived = core.deriveKey({ ...request, source: rules.keySource }, bytes);
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
		const business = core.deriveKey({ ...request, source: { type: 'value', parts: [rules.businessKey] } }, bytes);
		if (business.type !== 'key') return refusal(aboutBusinessKey(business), signature, key);
		guards.push({ kind: 'business_key', key: business.eventId });
	}
	if (rules.guardBody && key.bodyDigest !== null) guards.push({ kind: 'body_digest', key: key.bodyDigest });
	if (rules.subject && !isComparable(rules.subject)) return refusal(OBJECT_VERSION_INVALID, signature, key);

	const payload = payloadOf(core, delivery, rules);
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
		...(payload && { payload }),
		...(rules.subject && { subject: rules.subject }),
		...(rules.outbox && { outbox: messagesOf(rules.outbox, rules.scope, key.idempotencyKey) }),
	};
	return { signature, key, ask, refusal: null };
}

const NO_BYTES = new Uint8Array(0);

function refusal(why: Refusal, signature: Signature | null = null, key: DerivedKey | null = null): Examined {
	return { signature, key, ask: null, refusal: why };
}

/** `null` where it is not to be saved or too large. What is completed by claiming it is never recovered. */
function payloadOf(core: Core, { headers, body }: Delivery, rules: GateRules): SavedPayload | null {
	const { savePayload, unfinished, custom } = rules;
	if (!savePayload || unfinished === 'complete_on_claim') return null;
	if (body === null || body.byteLength > savePayload.maxBytes) return null;
	const signing = custom ? [custom.signatureHeader] : signatureHeaders(core, rules.provider);
	return { headers: savedHeaders(headers, signing), body, keep: savePayload.keep };
}

function signatureHeaders(core: Core, provider: string): readonly string[] {
	let table = tables.get(core);
	if (!table) {
		table = new Map(core.providers().map((row) => [row.key, row.signatureHeaders]));
		tables.set(core, table);
	}
	return table.get(provider) ?? [];
}

const tables = new WeakMap<Core, ReadonlyMap<string, readonly string[]>>();

/**
 * Two messages of one event about the same topic are two messages: the later ones are numbered. `before`: how many of each
 * topic there were earlier.
 */
export function messagesOf(
	messages: readonly ClaimMessage[],
	scope: string,
	idempotencyKey: string,
	before: ReadonlyMap<string, number> = new Map(),
): OutboxMessage[] {
	const seen = new Map(before);
	return messages.map((message) => {
		const nth = (seen.get(message.topic) ?? 0) + 1;
		seen.set(message.topic, nth);
		// Behind the event's key, which has one length, the two marks cannot be taken for a part of a topic.
		const ofEvent = nth === 1 ? `${idempotencyKey}-${message.topic}` : `${idempotencyKey}#${nth}-${message.topic}`;
		return { ...message, scope, messageKey: message.messageKey ?? ofEvent };
	});
}

function isComparable({ key, version }: Subject): boolean {
	const length = Buffer.byteLength(key);
	return length >= 1 && length <= 512 && !/\0|\p{Surrogate}/u.test(key) && /^[0-9]{1,30}(\.[0-9]{1,9})?$/.test(version);
}

const OBJECT_VERSION_INVALID: Refusal = {
	type: 'rejected',
	code: 'object_version_invalid',
	message: 'The key or the version of the object that this event is about is empty or cannot be compared',
	help: 'The key must be a text of at least one character. The version must be a number or a time that grows with every change.',
};

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
