import type { LeasedMessage, MessageEnd, MessageReply, MessageSearch, OutboxMessage, ShownMessage } from '../outbox';
import { cleaned, FENCE, keyText, matching, OWNER, refused, TEN_YEARS_MS, type WireWait, whole, wireWait } from './checks';
import { number, type Row, text, textOrNull } from './replies';

/** A message as it crosses to the statements, see `asks.ts`. */
export interface WireMessage {
	readonly scope: string;
	readonly message_key: string;
	readonly topic: string;
	readonly ordering_key: string | null;
	/** JSON text, as it was given. */
	readonly body: string;
	readonly delay_ms: number;
}

/** One that comes with a claim or its end. Their order is the order of sending. */
export interface PlacedMessage extends WireMessage {
	readonly place: number;
}

export interface WireSearch {
	readonly scope: string | null;
	readonly tests: boolean;
	readonly topic: string | null;
	readonly limit: number;
	readonly owner: string;
	readonly lease_ms: number;
}

export interface WireMessageEnd {
	readonly id: string;
	readonly owner: string;
	readonly fence: string;
	readonly sent: boolean;
	readonly error: string | null;
	readonly wait: WireWait | null;
	readonly max_attempts: number | null;
}

export function wireMessage(message: OutboxMessage): WireMessage {
	const { scope, messageKey, topic, orderingKey, body, delayMs = 0 } = message;
	return {
		scope: keyText('The scope of the message', scope, 512),
		message_key: keyText('The message key', messageKey, 512),
		topic: keyText('The topic of the message', topic, 200),
		ordering_key: orderingKey === null ? null : keyText('The ordering key', orderingKey, 512),
		body: jsonText(body),
		delay_ms: whole('The delay of the message', delayMs, 0, TEN_YEARS_MS),
	};
}

/** Of a message key that comes twice in one scope, the first counts. */
export function wireMessages(messages: readonly OutboxMessage[]): PlacedMessage[] {
	const firsts = new Map<string, WireMessage>();
	for (const wire of messages.map(wireMessage)) if (!firsts.has(messageName(wire))) firsts.set(messageName(wire), wire);
	return [...firsts.values()].map((wire, place) => ({ place, ...wire }));
}

export function wireSearch({ scope, tests = false, topic, limit, owner, leaseMs }: MessageSearch): WireSearch {
	return {
		scope: scope === null ? null : keyText('The scope of the messages', scope, 512),
		tests,
		topic: topic === null ? null : keyText('The topic of the messages', topic, 200),
		limit: whole('The number of messages', limit, 1, MOST_AT_ONCE),
		owner: matching('The owner token', owner, OWNER),
		lease_ms: whole('The lease', leaseMs, 1, TEN_YEARS_MS),
	};
}

export function wireMessageEnd({ id, owner, fence, to }: MessageEnd): WireMessageEnd {
	const failed = to.state === 'failed';
	return {
		id: matching('The ID of the message', id, FENCE),
		owner: matching('The owner token', owner, OWNER),
		fence: matching('The fence', fence, FENCE),
		sent: !failed,
		error: failed ? cleaned(to.error, 2000) : null,
		wait: failed ? wireWait(to.retryAfterMs) : null,
		max_attempts: failed ? whole('The number of attempts', to.maxAttempts, 1, 32_767) : null,
	};
}

/** The same text for the same message and no other. */
export function messageName({ scope, message_key }: Pick<WireMessage, 'scope' | 'message_key'>): string {
	return `${scope}\0${message_key}`;
}

export function leased(row: Row): LeasedMessage {
	return {
		...shown(row),
		owner: text(row['owner']),
		fence: text(row['fence']),
		leaseUntilMs: number(row['lease_ms']),
	};
}

export function shown(row: Row): ShownMessage {
	return {
		id: text(row['id']),
		scope: text(row['scope']),
		messageKey: text(row['message_key']),
		topic: text(row['topic']),
		orderingKey: textOrNull(row['ordering_key']),
		body: text(row['body']),
		attempt: number(row['attempt']),
		createdAtMs: number(row['created_ms']),
		error: textOrNull(row['error']),
	};
}

export function messageEnded(row: Row): MessageReply {
	const next = textOrNull(row['next_attempt_ms']);
	return { verdict: text(row['verdict']) as MessageReply['verdict'], nextAttemptAtMs: next === null ? null : number(next) };
}

const MOST_AT_ONCE = 10_000;
const BODY_LIMIT = 256 * 1024;

function jsonText(body: string): string {
	if (typeof body !== 'string') throw refused('The body of the message is not a text; write it as JSON first');
	const bytes = Buffer.byteLength(body);
	if (bytes > BODY_LIMIT) throw refused(`The body of the message has ${bytes} bytes, the limit is ${BODY_LIMIT}`);
	if (/\p{Surrogate}/u.test(body)) throw refused('The body of the message holds half a character (a lone surrogate)');
	try {
		JSON.parse(body);
	} catch (cause) {
		throw refused('The body of the message is not JSON', cause);
	}
	return body;
}
