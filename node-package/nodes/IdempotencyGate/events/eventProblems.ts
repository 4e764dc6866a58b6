import type { State, StoredClaim } from '../../../src/index';
import { executionIdIn } from '../execution';
import { Problem } from '../problems';
import { isoTime } from './details';
import type { Lineage } from './lineage';

/** What can be wrong where an operation looks for its event, or finds that it is no longer its owner's. */
export const eventProblems = {
	notFoundBefore(lineage: Exclude<Lineage, { type: 'claimed' | 'let_through' | 'unclaimed' }>): Problem {
		switch (lineage.type) {
			case 'no_gate':
				return new Problem(
					'gate_not_found',
					'No Idempotency Gate was found before this node',
					"Connect this node after 'Claimed', or choose another value for 'Event'",
				);
			case 'lost':
				return new Problem(
					'pairing_lost',
					`The node '${lineage.at}' does not say which event its items belong to`,
					`Return 'pairedItem' with each item of '${lineage.at}', or let it keep the field 'idempotency', or set 'Event' to By Claim Token`,
				);
			case 'ambiguous':
				return new Problem(
					'pairing_ambiguous',
					`The item belongs to several events of '${lineage.gate}'`,
					"Place this node where each item still belongs to one event, or set 'Event' to By Claim Token",
				);
		}
	},

	tokenInvalid: () =>
		new Problem(
			'claim_token_invalid',
			"'Claim Token' is not the token of a claim",
			"Use the field 'idempotency.claimToken' of an item from the output 'Claimed', unchanged",
		),

	keyIncomplete: (label: string) =>
		new Problem(
			'event_key_invalid',
			`'${label}' is empty or longer than 512 bytes`,
			`Copy '${label}' from the field 'idempotency' of an item about the event`,
		),

	executionMissing: () =>
		new Problem(
			'execution_missing',
			"'Execution ID' is empty",
			'The expression found none. An execution that failed before it began has no ID, and has claimed nothing',
		),

	eventNotFound: (eventId: string, scope: string) =>
		new Problem(
			'event_not_found',
			`There is no event '${eventId}' in the scope '${scope}'`,
			"Check 'Event ID', 'Provider' and 'Scope', and that this node has the same credential, 'Schema' and 'Table Prefix' as the gate",
		),

	notFinished: (state: State | null) =>
		new Problem(
			'not_finished',
			`The event has not ended: it is ${state}`,
			'Only what is completed, dead or uncertain can be reopened. This one is being handled, or will be handed out again by itself',
		),

	guardTaken: () =>
		new Problem(
			'guard_taken',
			'Another event holds the business key or the body of this one by now',
			"Handled again, the same fact would be handled twice. Look at the other event first: it has the same 'Business Key'",
		),

	notUncertain: (state: State | null) =>
		new Problem(
			'not_uncertain',
			`The outcome of the event is not uncertain: it is ${state}`,
			'There is nothing to resolve. To have it handled again use the operation Reopen',
		),

	fenceOutdated: () =>
		new Problem(
			'fence_outdated',
			"The event has changed since: 'Fence' is not the one of its record any more",
			'Get the event and look at it again',
		),

	reasonMissing: () =>
		new Problem('reason_missing', "'Reason' is empty", 'Say in a few words why, for those who look at the event later'),

	/** `record`: what the store says now; `null` where there is none any more, `undefined` where it could not say. */
	noLongerHeld(record: StoredClaim | null | undefined, owner: string): Problem {
		const message = 'The event is no longer held by this execution';
		if (record === undefined) {
			const what = "Its lease ended and somebody else took it over. Raise 'Lease (Minutes)' of the gate or add 'Extend Lease'";
			return new Problem('lease_taken_over', message, what);
		}
		if (record === null) return new Problem('lease_taken_over', message, 'There is no record of it in the store any more');
		if (record.owner === owner) {
			const by = `It is ${record.state} already. What has ended can be handled again with the operation Reopen`;
			return new Problem('already_ended', 'The event is not in progress any more', by);
		}
		const execution = executionIdIn(record.executionId);
		const who = execution === null ? 'somebody else' : `execution ${execution}`;
		const since = isoTime(record.claimedAtMs);
		return new Problem(
			'lease_taken_over',
			message,
			`Its lease ended, and ${who} took it over at ${since}; it is ${record.state} now. Raise 'Lease (Minutes)' of the gate or add 'Extend Lease'`,
		);
	},
};
