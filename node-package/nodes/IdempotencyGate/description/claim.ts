import type { INodeProperties } from 'n8n-workflow';
import { claimOptions } from './claimOptions';
import { customFields } from './custom';
import { eventIdFields } from './eventId';
import type { Panel } from './panel';
import { CUSTOM, NONE, providerOptions } from './providers';

const fields: INodeProperties[] = [
	{
		displayName: 'Provider',
		name: 'provider',
		type: 'options',
		noDataExpression: true,
		default: 'stripe',
		options: providerOptions,
		description: 'Who sends the events. Decides how the signature is checked and where the event ID is.',
	},
	{
		displayName: "In the Webhook node, turn on the option 'Raw Body', and set 'HTTP Method' to POST",
		name: 'rawBodyNotice',
		type: 'notice',
		default: '',
		displayOptions: { hide: { provider: [NONE], verifySignature: [false] } },
	},
	{
		displayName: 'Verify Signature',
		name: 'verifySignature',
		type: 'boolean',
		// A value from the event must not be able to turn this off.
		noDataExpression: true,
		default: true,
		displayOptions: { hide: { provider: [CUSTOM, NONE] } },
		description:
			'Whether to check the signature. Turn off only if the trigger before this node already checks it, as Stripe Trigger and GitHub Trigger do.',
	},
	...customFields,
	...eventIdFields,
];

export const claimPanel: Panel = {
	resource: 'event',
	operation: 'claim',
	name: 'Claim',
	action: 'Claim event',
	description: 'Verify the request and let only the first delivery continue',
	fields,
	options: claimOptions,
};
