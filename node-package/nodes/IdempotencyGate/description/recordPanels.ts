import { eventSelection } from './eventSelection';
import { leaseField, reasonField, resultFieldOption, retryAfterOption } from './lifecycleFields';
import type { Panel } from './panel';
import { recordFilters } from './recordFilters';

const anybody = eventSelection('claimedBefore', 'claimToken', 'eventId');

/** What anybody may ask about an event, owner or not. */
export const recordPanels: readonly Panel[] = [
	{
		resource: 'event',
		operation: 'get',
		name: 'Get',
		action: 'Get event',
		description: 'Retrieve the state of one event',
		fields: anybody,
		options: [resultFieldOption],
	},
	{
		resource: 'event',
		operation: 'getMany',
		name: 'Get Many',
		action: 'Get many events',
		description: 'Retrieve a list of events, filtered by state, provider or time',
		fields: recordFilters,
		options: [],
	},
	{
		resource: 'event',
		operation: 'reopen',
		name: 'Reopen',
		action: 'Reopen event',
		description: 'Let a finished event be handled again, with a reason (never automatic; nothing is deleted)',
		fields: [...anybody, { ...reasonField('Why it is to be handled again, for people', ''), required: true }],
		options: [leaseField('How long handling may take before the event counts as stale'), resultFieldOption],
	},
	{
		resource: 'event',
		operation: 'resolve',
		name: 'Resolve',
		action: 'Resolve event',
		description: 'Say what became of an event whose outcome is uncertain',
		fields: [
			...anybody,
			{
				displayName: 'Resolution',
				name: 'resolution',
				type: 'options',
				noDataExpression: true,
				default: 'completed',
				options: [
					{ name: 'It Was Done', value: 'completed', description: 'The event is completed' },
					{ name: 'It Was Not Done, Give Up', value: 'dead', description: 'The event is dead' },
					{ name: 'It Was Not Done, Try Again', value: 'failed', description: 'The event is handed out again' },
				],
				description: 'What somebody found out about it',
			},
			{ ...reasonField('How that was found out, for people', ''), required: true },
		],
		options: [
			{
				displayName: 'Fence',
				name: 'fence',
				type: 'string',
				default: '',
				placeholder: 'e.g. {{ $json.idempotency.fence }}',
				description: 'Of the record that was looked at. If the event has been handed out since, nothing is changed.',
			},
			resultFieldOption,
			{ ...retryAfterOption, default: 0, description: "How long the event waits, where the resolution is 'It Was Not Done, Try Again'" },
		],
	},
];
