import type { INodeProperties } from 'n8n-workflow';
import { claimOptions } from './claimOptions';
import { customFields } from './custom';
import { eventIdFields } from './eventId';
import { CUSTOM, NONE, providerOptions } from './providers';

const show = { resource: ['event'], operation: ['claim'] };

/** The fields of Claim, in the order of the panel. */
export const claimFields: INodeProperties[] = [
	{
		displayName: 'Provider',
		name: 'provider',
		type: 'options',
		noDataExpression: true,
		default: 'stripe',
		displayOptions: { show },
		options: providerOptions,
		description: 'Who sends the events. Decides how the signature is checked and where the event ID is.',
	},
	{
		displayName: "In the Webhook node, turn on the option 'Raw Body', and set 'HTTP Method' to POST",
		name: 'rawBodyNotice',
		type: 'notice',
		default: '',
		displayOptions: { show, hide: { provider: [NONE], verifySignature: [false] } },
	},
	{
		displayName: 'Verify Signature',
		name: 'verifySignature',
		type: 'boolean',
		// A value from the event must not be able to turn this off.
		noDataExpression: true,
		default: true,
		displayOptions: { show, hide: { provider: [CUSTOM, NONE] } },
		description:
			'Whether to check the signature. Turn off only if the trigger before this node already checks it, as Stripe Trigger and GitHub Trigger do.',
	},
	...customFields.map((field) => within(field)),
	...eventIdFields.map((field) => within(field)),
	{
		displayName: 'Store',
		name: 'store',
		type: 'options',
		noDataExpression: true,
		default: 'postgres',
		displayOptions: { show },
		options: [{ name: 'Postgres', value: 'postgres' }],
		description: 'Where claims are kept. The tables are created when they are missing.',
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		displayOptions: { show },
		options: claimOptions,
	},
];

/** The field, for this operation only. */
function within(field: INodeProperties): INodeProperties {
	const { displayOptions } = field;
	return { ...field, displayOptions: { ...displayOptions, show: { ...show, ...displayOptions?.show } } };
}
