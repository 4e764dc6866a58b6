import type { ClaimAsk, Guard, SavedPayload, Subject } from '../store';
import { attempts, cleaned, digest, keyText, leaseLength, matching, ownerToken, refused } from './checks';
import { keyName, wireKey, type WireKey } from './keys';
import { type PlacedMessage, wireMessages } from './messages';

/** A claim as it crosses to the statements, as JSON: one parameter, whatever the driver makes of arrays. */
export interface WireAsk extends WireKey {
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
	/** What only few claims have is absent in the others. */
	readonly payload?: WirePayload;
	readonly subject_key?: string;
	/** Decimal. */
	readonly subject_version?: string;
	readonly outbox?: readonly PlacedMessage[];
}

interface WirePayload {
	readonly keep: boolean;
	/** JSON text. */
	readonly headers: string;
	/** Base64. */
	readonly body: string;
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

export function wireAsk(ask: ClaimAsk): WireAsk {
	return {
		...wireKey(ask.key),
		event_type: cleaned(ask.eventType, 200),
		owner: ownerToken(ask.owner),
		body_digest: ask.bodyDigest === null ? null : digest('The body digest', ask.bodyDigest),
		lease_ms: leaseLength(ask.leaseMs),
		max_attempts: attempts(ask.maxAttempts),
		on_claim: ask.unfinished === 'complete_on_claim',
		on_hold: ask.unfinished === 'hold',
		reject_changed: ask.payloadChanged === 'reject',
		execution_id: cleaned(ask.executionId, 200),
		guards: distinct(ask.guards.map((guard) => wireGuard(guard, ask.key.provider))),
		...(ask.payload && { payload: wirePayload(ask.payload) }),
		...(ask.subject && wireSubject(ask.subject)),
		...(ask.outbox && ask.outbox.length > 0 && { outbox: wireMessages(ask.outbox) }),
	};
}

/** Everything that an ask would write to. Guards live apart from events, hence the fourth part of their names. */
export function keysOf(ask: WireAsk): string[] {
	const guards = ask.guards.map(({ kind, provider, key }) => `${ask.scope}\0${provider}\0${key}\0${kind}`);
	return [keyName(ask), ...guards];
}

const PAYLOAD_LIMIT = 64 * 1024 * 1024;

function wirePayload({ keep, headers, body }: SavedPayload): WirePayload {
	if (!(body instanceof Uint8Array)) throw refused('The body to be saved is not a Uint8Array');
	if (body.byteLength > PAYLOAD_LIMIT) {
		throw refused(`The body to be saved has ${body.byteLength} bytes, the limit is ${PAYLOAD_LIMIT}`);
	}
	const base64 = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64');
	return { keep: keep === 'always', headers: JSON.stringify(headers), body: base64 };
}

function wireSubject({ key, version }: Subject): Pick<Required<WireAsk>, 'subject_key' | 'subject_version'> {
	return {
		subject_key: keyText('The key of the subject', key, 512),
		subject_version: matching('The version of the subject', version, /^\d{1,30}(?:\.\d{1,9})?$/),
	};
}

function wireGuard({ kind, key }: Guard, provider: string): Omit<WireGuard, 'ord'> {
	if (kind === 'body_digest') return { kind: 'd', provider, key: digest('The body digest', key) };
	return { kind: 'k', provider: '', key: Buffer.from(keyText('The business key', key, 512)).toString('hex') };
}

function distinct(guards: ReadonlyArray<Omit<WireGuard, 'ord'>>): WireGuard[] {
	const byName = new Map(guards.map((guard) => [`${guard.kind}${guard.key}`, guard]));
	return [...byName.values()].map((guard, ord) => ({ ord, ...guard }));
}
