import type { INodeProperties } from 'n8n-workflow';
import { messageOptions, topicFilterField } from '../IdempotencyGate/description/outbox';
import { placeOptions } from '../IdempotencyGate/description/place';
import { limitField, providerFilterField, recoveryOptions, whichField } from '../IdempotencyGate/description/recovery';
import { searchedScopeOptions } from '../IdempotencyGate/searchedScope';

const DEAD_LETTERS = ['deadLetters'];
const OUTBOX = ['outboxMessages'];
const UNFINISHED = ['unfinishedEvents'];

function shownFor(triggerOn: string[], field: INodeProperties): INodeProperties {
	return { ...field, displayOptions: { show: { triggerOn } } };
}

function options(triggerOn: string[], fields: readonly INodeProperties[]): INodeProperties {
	return shownFor(triggerOn, {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: [...fields, ...placeOptions].sort((a, b) => (a.displayName.toLowerCase() < b.displayName.toLowerCase() ? -1 : 1)),
	});
}

export const properties: INodeProperties[] = [
	{
		displayName: 'Trigger On',
		name: 'triggerOn',
		type: 'options',
		noDataExpression: true,
		default: 'unfinishedEvents',
		options: [
			{
				name: 'Dead Letters',
				value: 'deadLetters',
				description: 'Events that wait for a person: given up, or with an unknown outcome. Each is reported once.',
			},
			{ name: 'Outbox Messages', value: 'outboxMessages', description: 'Messages that are due for sending' },
			{
				name: 'Stale or Failed Events',
				value: 'unfinishedEvents',
				description: 'Events that nobody works on any more. They are taken over and handed out again.',
			},
		],
		description: 'What starts the workflow',
	},
	shownFor(UNFINISHED, whichField),
	shownFor(OUTBOX, topicFilterField),
	limitField,
	shownFor([...DEAD_LETTERS, ...UNFINISHED], providerFilterField),
	{
		displayName: 'Store',
		name: 'store',
		type: 'options',
		noDataExpression: true,
		default: 'postgres',
		options: [{ name: 'Postgres', value: 'postgres' }],
		description: 'Where claims are kept. The tables are created when they are missing.',
	},
	options(DEAD_LETTERS, searchedScopeOptions),
	options(OUTBOX, messageOptions),
	options(UNFINISHED, recoveryOptions),
];
