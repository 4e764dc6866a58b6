import type { INodeProperties } from 'n8n-workflow';
import type { State } from '../../../src/index';
import { ANY_PROVIDER } from '../recovery';
import { providerOptions } from './providers';

/** Every state that a record can have. */
export const STATE_OPTIONS: ReadonlyArray<{ name: string; value: State; description: string }> = [
	{ name: 'Completed', value: 'completed', description: 'Done' },
	{ name: 'Dead', value: 'dead', description: 'Given up' },
	{ name: 'Failed', value: 'failed', description: 'Will be handed out again' },
	{ name: 'Processing', value: 'processing', description: 'Claimed, and neither completed nor failed so far' },
	{ name: 'Uncertain', value: 'uncertain', description: 'Waits for a person' },
];

export const recordFilters: INodeProperties[] = [
	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
	},
	{
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 50,
		displayOptions: { show: { returnAll: [false] } },
		description: 'Max number of results to return',
	},
	{
		displayName: 'Filters',
		name: 'filters',
		type: 'collection',
		placeholder: 'Add filter',
		default: {},
		options: [
			{
				displayName: 'Event Type',
				name: 'eventType',
				type: 'string',
				default: '',
				placeholder: 'e.g. invoice.paid',
				description: 'Only events of this type',
			},
			{
				displayName: 'First Seen After',
				name: 'firstSeenAfter',
				type: 'dateTime',
				default: '',
				description: 'Only events whose first delivery came at this time or later',
			},
			{
				displayName: 'First Seen Before',
				name: 'firstSeenBefore',
				type: 'dateTime',
				default: '',
				description: 'Only events whose first delivery came before this time',
			},
			{
				displayName: 'Provider',
				name: 'provider',
				type: 'options',
				noDataExpression: true,
				default: ANY_PROVIDER,
				options: [{ name: 'Any', value: ANY_PROVIDER }, ...providerOptions].sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1)),
				description: 'Only events of this sender',
			},
			{
				displayName: 'Scope Text',
				name: 'scopeText',
				type: 'string',
				default: '',
				placeholder: 'e.g. workflow:Ab3dEf6hIj9kLm2n',
				description: "Only events of this scope, as in the field 'idempotency.scope' of items",
			},
			{
				displayName: 'States',
				name: 'states',
				type: 'multiOptions',
				default: [],
				options: [...STATE_OPTIONS],
				description: 'Only events in one of these states',
			},
		],
	},
];
