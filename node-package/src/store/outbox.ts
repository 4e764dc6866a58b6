import type { Backoff } from '../backoff';

/**
 * Messages that are to be sent after an event: stored together with the claim or its end, in one transaction
 * (`ClaimAsk.outbox`, `Settle`), and sent by whoever asks for them next. Each is handed out until somebody says that it
 * was sent, so it is sent at least once; its `messageKey` lets the receiver see a repetition.
 */
export interface Outbox {
	/** A message with a key that is there already is not stored again, whatever its content. */
	addMessages(messages: readonly OutboxMessage[]): Promise<Array<'added' | 'already_added'>>;

	/**
	 * Leases messages that are due, oldest first. Callers at the same time get different ones. Of the messages with one
	 * ordering key only the oldest that is not sent yet is handed out, so they are sent in their order; one that is dead
	 * holds the later ones up until a person sees to it.
	 */
	nextMessages(search: MessageSearch): Promise<LeasedMessage[]>;

	/** Reads messages that are due and leaves them as they are: for a person who wants to see one. */
	showMessages(search: Omit<MessageSearch, 'owner' | 'leaseMs'>): Promise<ShownMessage[]>;

	/** Ends leases. Fenced: whoever lost the lease changes nothing and is told `fenced_out`. */
	settleMessages(ends: readonly MessageEnd[]): Promise<MessageReply[]>;
}

export interface OutboxMessage {
	/** As in `EventKey`. */
	readonly scope: string;
	/** Unique within the scope, 1 to 512 bytes of UTF-8. For the receiver, it is the idempotency key. */
	readonly messageKey: string;
	/** What it is about, and who sends it: 1 to 200 bytes of UTF-8. */
	readonly topic: string;
	/** Messages of one scope and topic with the same ordering key are sent in their order; `null`: no order. */
	readonly orderingKey: string | null;
	/** JSON text, at most 256 KiB. */
	readonly body: string;
	/** Not handed out before, ms from now. Default 0. */
	readonly delayMs?: number;
}

export interface MessageSearch {
	/** `null`: in all scopes but those of tests, whose names begin with `test:`. */
	readonly scope: string | null;
	/** With no scope: in those of tests and no others. */
	readonly tests?: boolean;
	/** `null`: about anything. */
	readonly topic: string | null;
	readonly limit: number;
	/** Fresh token of the caller. Asked again with the same token after a lost answer, it gets the same messages again. */
	readonly owner: string;
	/** How long the caller may take to send them. */
	readonly leaseMs: number;
}

export interface LeasedMessage {
	/** Decimal digits of a 64-bit number; with `owner` and `fence` the receipt for `settleMessages`. */
	readonly id: string;
	readonly owner: string;
	readonly fence: string;
	readonly scope: string;
	readonly messageKey: string;
	readonly topic: string;
	readonly orderingKey: string | null;
	readonly body: string;
	/** 1 when it is handed out for the first time. */
	readonly attempt: number;
	readonly createdAtMs: number;
	readonly leaseUntilMs: number;
	/** Of the attempt before. */
	readonly error: string | null;
}

export type ShownMessage = Omit<LeasedMessage, 'owner' | 'fence' | 'leaseUntilMs'>;

export interface MessageEnd {
	readonly id: string;
	readonly owner: string;
	readonly fence: string;
	readonly to:
		| { readonly state: 'sent' }
		| {
				readonly state: 'failed';
				readonly error: string;
				readonly retryAfterMs: number | Backoff;
				/** At this many attempts it is dead. */
				readonly maxAttempts: number;
		  };
}

export interface MessageReply {
	/** `already`: ended so before, by the same owner. `fenced_out`: not this owner's any more; nothing changed. */
	readonly verdict: 'sent' | 'failed' | 'dead' | 'already' | 'fenced_out';
	/** When it will be handed out again; `null` unless failed. */
	readonly nextAttemptAtMs: number | null;
}
