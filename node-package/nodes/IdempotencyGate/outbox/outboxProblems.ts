import { Problem } from '../problems';

/** What can be wrong with a message, or where an operation looks for it. */
export const outboxProblems = {
	keyMissing: () =>
		new Problem(
			'message_key_missing',
			'The message has no key',
			"Connect this node after 'Claimed', so that the key is made of the event's, or add the option 'Message Key' with a text that is the same however often this is tried",
		),

	noneBefore: () =>
		new Problem(
			'message_not_found',
			'No message was found before this node',
			"Connect this node after 'Get Next Messages' or an Idempotency Gate Trigger for outbox messages, or set 'Message' to By Message Token",
		),

	pairingLost: (at: string) =>
		new Problem(
			'pairing_lost',
			`The node '${at}' does not say which message its items belong to`,
			`Return 'pairedItem' with each item of '${at}', or set 'Message' to By Message Token`,
		),

	severalBefore: () =>
		new Problem(
			'pairing_ambiguous',
			'The item belongs to several messages',
			"Place this node where each item still belongs to one message, or set 'Message' to By Message Token",
		),

	tokenInvalid: () =>
		new Problem(
			'message_token_invalid',
			"'Message Token' is not the token of a message",
			"Use the field 'outbox.messageToken' of an item from 'Get Next Messages', unchanged",
		),

	noLongerHeld: () =>
		new Problem(
			'lease_taken_over',
			'The message is no longer held by this execution',
			"Its lease ended, and it was handed out again or has ended. It may be sent twice: the receiver can tell by its key. Raise 'Lease (Minutes)' where the message was handed out, or lower 'Limit'",
		),
};
