import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { providerOptions } from './providers';

type Way = 'claimedBefore' | 'claimToken' | 'eventId' | 'executionId';

/** How an operation finds its event; `events/selection.ts` reads it. */
export function eventSelection(...ways: readonly Way[]): INodeProperties[] {
	const options = ways.map((way) => WAYS[way]).sort((a, b) => (a.name < b.name ? -1 : 1));
	return [
		{
			displayName: 'Event',
			name: 'event',
			type: 'options',
			noDataExpression: true,
			default: 'claimedBefore',
			options,
			description: 'How to find the event',
		},
		...fields.filter(({ displayOptions }) => ways.some((way) => displayOptions?.show?.['event']?.includes(way))),
	];
}

const WAYS: Readonly<Record<Way, INodePropertyOptions>> = {
	claimedBefore: {
		name: 'Claimed Before This Node',
		value: 'claimedBefore',
		description: 'The event that the nearest gate before this node claimed for the item',
	},
	claimToken: { name: 'By Claim Token', value: 'claimToken' },
	eventId: { name: 'By Event ID', value: 'eventId' },
	executionId: {
		name: 'By Execution ID',
		value: 'executionId',
		description: 'All events that an execution has in progress. For error workflows.',
	},
};

function shownBy(way: Way, scope?: string): NonNullable<INodeProperties['displayOptions']> {
	return { show: { event: [way], ...(scope !== undefined && { scope: [scope] }) } };
}

const fields: INodeProperties[] = [
	{
		displayName: 'Claim Token',
		name: 'claimToken',
		type: 'string',
		default: '={{ $json.idempotency.claimToken }}',
		required: true,
		displayOptions: shownBy('claimToken'),
		description: 'Proves who holds the event. Each item on the output Claimed has one.',
	},
	{
		displayName: 'Event ID',
		name: 'eventId',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. evt_1PqRsT',
		displayOptions: shownBy('eventId'),
		description: "As in the field 'idempotency.eventId' of its items",
	},
	{
		displayName: 'Provider',
		name: 'provider',
		type: 'options',
		noDataExpression: true,
		default: 'stripe',
		options: providerOptions,
		displayOptions: shownBy('eventId'),
		description: 'Who sent the event',
	},
	{
		displayName: 'Scope',
		name: 'scope',
		type: 'options',
		noDataExpression: true,
		default: 'workflow',
		options: [
			{ name: 'Another Workflow', value: 'otherWorkflow' },
			{ name: 'As Written in Items', value: 'exact', description: "The text of the field 'idempotency.scope'" },
			{ name: 'Custom Name', value: 'custom' },
			{ name: 'This Workflow', value: 'workflow' },
		],
		displayOptions: shownBy('eventId'),
		description: 'Who consumes the event, as the gate that claimed it was told',
	},
	{
		displayName: 'Scope Name',
		name: 'scopeName',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. billing',
		displayOptions: shownBy('eventId', 'custom'),
		description: 'The name that the gate was given',
	},
	{
		displayName: 'Scope Text',
		name: 'scopeText',
		type: 'string',
		default: '={{ $json.idempotency.scope }}',
		required: true,
		placeholder: 'e.g. workflow:Ab3dEf6hIj9kLm2n',
		displayOptions: shownBy('eventId', 'exact'),
		description: "As in the field 'idempotency.scope' of its items",
	},
	{
		displayName: 'Workflow ID',
		name: 'workflowId',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. Ab3dEf6hIj9kLm2n',
		displayOptions: shownBy('eventId', 'otherWorkflow'),
		description: 'The last part of the address of the workflow in which the gate is',
	},
	{
		displayName: 'Execution ID',
		name: 'executionId',
		type: 'string',
		default: '={{ $json.execution.id }}',
		required: true,
		displayOptions: shownBy('executionId'),
		description: 'The execution that claimed the events. The default is the failed execution that an Error Trigger reports.',
	},
	{
		displayName: 'Workflow ID of the Execution',
		name: 'executionWorkflowId',
		type: 'string',
		default: '={{ $json.workflow?.id ?? $workflow.id }}',
		required: true,
		displayOptions: shownBy('executionId'),
		description: 'Two n8n on one store count their executions alike, so the workflow is part of the name. The default is the one that an Error Trigger reports, else this one.',
	},
];
