import type { INodeProperties } from 'n8n-workflow';
import { ANY_PROVIDER } from '../recovery';
import { searchedScopeOptions } from '../searchedScope';
import { leaseField } from './lifecycleFields';
import type { Panel } from './panel';
import { providerOptions } from './providers';

export const whichField: INodeProperties = {
	displayName: 'Which',
	name: 'which',
	type: 'options',
	noDataExpression: true,
	default: 'both',
	options: [
		{ name: 'Both', value: 'both' },
		{ name: 'Failed and Due', value: 'failed', description: 'Marked as failed, and the wait before the next attempt is over' },
		{ name: 'Stale', value: 'stale', description: 'Claimed, and neither completed nor failed when the lease ended' },
	],
	description: 'Which unfinished events are taken over. Those that are being handled are left alone.',
};

export const limitField: INodeProperties = {
	displayName: 'Limit',
	name: 'limit',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 1000 },
	default: 50,
	description: 'Max number of results to return',
};

export const providerFilterField: INodeProperties = {
	displayName: 'Provider',
	name: 'provider',
	type: 'options',
	noDataExpression: true,
	default: ANY_PROVIDER,
	options: [{ name: 'Any', value: ANY_PROVIDER }, ...providerOptions].sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1)),
	description: 'Only events of this sender',
};

export const testOption: INodeProperties = {
	displayName: 'Test Executions',
	name: 'testExecutions',
	type: 'options',
	noDataExpression: true,
	default: 'separateReal',
	options: [
		{ name: 'Same as Production', value: 'production', description: 'A test takes from production, and production misses it' },
		{ name: 'Separate', value: 'separateReal', description: 'A test sees only what tests have left behind' },
	],
	description: 'What happens when the workflow is run from the editor',
};

/** What the operation and the trigger have in common. */
export const recoveryOptions: INodeProperties[] = [
	leaseField('How long handling may take before somebody else may take the event over'),
	{
		displayName: 'Maximum Attempts',
		name: 'maxAttempts',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 5,
		description: 'How many times an event is handed out before it is given up. Without this option, what it was claimed with counts.',
	},
	{
		displayName: 'Unfinished Events',
		name: 'unfinishedEvents',
		type: 'options',
		noDataExpression: true,
		default: 'takeOver',
		options: [
			{ name: 'Hold for a Person', value: 'hold', description: 'Stale events wait, their outcome being unknown' },
			{ name: 'Take Over', value: 'takeOver', description: 'Stale events are handed out again, unless the gate that claimed them says otherwise' },
		],
		description: 'What becomes of events whose handling was interrupted. They may have been handled in part.',
	},
	...searchedScopeOptions,
];

export const recoverPanel: Panel = {
	resource: 'store',
	operation: 'recover',
	name: 'Recover Events',
	action: 'Recover stale or failed events',
	description: 'Take over events whose handling stopped, and hand them out again',
	fields: [whichField, limitField, providerFilterField],
	options: [
		...recoveryOptions,
		testOption,
		{
			displayName: 'Put Result in Field',
			name: 'resultField',
			type: 'string',
			default: 'idempotency',
			description: "The name of the output field with the details. The field 'claimed' stays at the top.",
		},
	],
};
