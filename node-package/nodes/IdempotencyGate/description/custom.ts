import type { INodeProperties } from 'n8n-workflow';
import { CUSTOM } from './providers';

const displayOptions = { show: { provider: [CUSTOM] } };

/** How a sender that is not in the table signs. */
export const customFields: INodeProperties[] = [
	{
		displayName: 'Signature Header',
		name: 'signatureHeader',
		type: 'string',
		default: 'X-Signature',
		required: true,
		placeholder: 'e.g. X-Hub-Signature-256',
		displayOptions,
		description: 'Name of the request header that carries the signature',
	},
	{
		displayName: 'Signature Format',
		name: 'signatureFormat',
		type: 'options',
		noDataExpression: true,
		default: 'hex',
		displayOptions,
		options: [
			{ name: 'Base64', value: 'base64' },
			{ name: 'Base64url', value: 'base64url' },
			{ name: 'Hex', value: 'hex' },
		],
		description: 'How the bytes of the signature are written',
	},
	{
		displayName: 'Hash',
		name: 'hash',
		type: 'options',
		noDataExpression: true,
		default: 'sha256',
		displayOptions,
		options: [
			{ name: 'SHA-1', value: 'sha1' },
			{ name: 'SHA-256', value: 'sha256' },
			{ name: 'SHA-384', value: 'sha384' },
			{ name: 'SHA-512', value: 'sha512' },
		],
		description: 'The hash function of the HMAC',
	},
	{
		displayName: 'Signature Options',
		name: 'signatureOptions',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		displayOptions,
		options: [
			{
				displayName: 'Prefix',
				name: 'prefix',
				type: 'string',
				default: '',
				placeholder: 'e.g. sha256=',
				description: 'Text in front of the signature within the header',
			},
			{
				displayName: 'Secret Encoding',
				name: 'secretEncoding',
				type: 'options',
				noDataExpression: true,
				default: 'utf8',
				options: [
					{ name: 'Base64', value: 'base64' },
					{ name: 'Hex', value: 'hex' },
					{ name: 'Text', value: 'utf8' },
				],
				description: 'How the signing secret becomes the key of the HMAC',
			},
			{
				displayName: 'Signed Text',
				name: 'template',
				type: 'string',
				// The braces are placeholders of ours, not an expression of n8n.
				noDataExpression: true,
				default: '{body}',
				placeholder: 'e.g. {timestamp}.{body}',
				description:
					"What the sender signs. {body} stands for the raw body, {timestamp} for the value of 'Timestamp Header', {id} for the value of 'Event ID Header'.",
			},
			{
				displayName: 'Timestamp Header',
				name: 'timestampHeader',
				type: 'string',
				default: '',
				placeholder: 'e.g. X-Request-Timestamp',
				description: 'Name of the request header with the time of sending. Requests that are too old are rejected.',
			},
			{
				displayName: 'Timestamp Unit',
				name: 'timestampUnit',
				type: 'options',
				noDataExpression: true,
				default: 's',
				options: [
					{ name: 'Milliseconds', value: 'ms' },
					{ name: 'Seconds', value: 's' },
				],
				description: 'What the timestamp counts, since 1970',
			},
		],
	},
];
