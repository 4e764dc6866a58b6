import { eventSelection } from './eventSelection';
import { FAILURE, leaseField, reasonField, resultFieldOption, retryAfterOption } from './lifecycleFields';
import { outboxOption } from './outboxOption';
import type { Panel } from './panel';

const owners = eventSelection('claimedBefore', 'claimToken', 'eventId', 'executionId');

/** What the owner of a claim does with it. */
export const ownerPanels: readonly Panel[] = [
	{
		resource: 'event',
		operation: 'advance',
		name: 'Advance',
		action: 'Advance event',
		description: 'Move an event to a later stage, never back',
		fields: [
			...owners,
			{
				displayName: 'Stages',
				name: 'stages',
				type: 'string',
				default: '',
				required: true,
				placeholder: 'e.g. charged, fulfilled, notified',
				description: 'All stages in their order, the same in every Advance of the workflow',
			},
			{
				displayName: 'Stage',
				name: 'stage',
				type: 'string',
				default: '',
				required: true,
				placeholder: 'e.g. charged',
				description: 'The stage to move to. An event that is there already, or later, leaves by the second output.',
			},
		],
		options: [resultFieldOption],
	},
	{
		resource: 'event',
		operation: 'complete',
		name: 'Complete',
		action: 'Complete event',
		description: 'Mark the claimed event as done',
		fields: owners,
		options: [
			outboxOption,
			resultFieldOption,
			{
				displayName: 'Result',
				name: 'result',
				type: 'json',
				default: '',
				placeholder: 'e.g. {{ { chargeId: $json.id } }}',
				description: "A little JSON to keep with the event. Later duplicates carry it as 'idempotency.result'.",
			},
		],
	},
	{
		resource: 'event',
		operation: 'extendLease',
		name: 'Extend Lease',
		action: 'Extend lease of event',
		description: 'Keep a long-running event from being treated as stale',
		fields: [...owners, leaseField('How long handling may take from now on')],
		options: [resultFieldOption],
	},
	{
		resource: 'event',
		operation: 'fail',
		name: 'Fail',
		action: 'Fail event',
		description: 'Record that handling did not finish, so that it can be recovered',
		fields: [
			...owners,
			reasonField('Why handling did not finish, for people', FAILURE),
			{
				displayName: 'Retry',
				name: 'retry',
				type: 'boolean',
				default: true,
				description: 'Whether the event may be handed out again. Turn off where another attempt would fail alike.',
			},
		],
		options: [resultFieldOption, retryAfterOption],
	},
	{
		resource: 'event',
		operation: 'markUncertain',
		name: 'Mark Uncertain',
		action: 'Mark event as uncertain',
		description: 'Record that nobody knows whether it was done, so that it waits for a person',
		fields: [...owners, reasonField('What is not known, for the person who decides', FAILURE)],
		options: [resultFieldOption],
	},
];
