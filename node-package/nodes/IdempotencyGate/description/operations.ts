import type { INodeProperties } from 'n8n-workflow';

export const operations: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		default: 'event',
		options: [{ name: 'Event', value: 'event' }],
	},
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		default: 'claim',
		displayOptions: { show: { resource: ['event'] } },
		options: [
			{
				name: 'Claim',
				value: 'claim',
				action: 'Claim event',
				description: 'Verify the request and let only the first delivery continue',
			},
		],
	},
];
