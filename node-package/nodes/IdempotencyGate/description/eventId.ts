import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { CUSTOM, withOwnId, withoutOwnId } from './providers';

const BODY_HASH: INodePropertyOptions = {
	name: 'Body Hash',
	value: 'bodyHash',
	description: 'For events without an ID: the same content counts as the same event, whatever the order of its fields',
};
const EXPRESSION: INodePropertyOptions = {
	name: 'Expression',
	value: 'expression',
	description: 'A value from the event that you choose',
};
const HEADER: INodePropertyOptions = {
	name: 'Header',
	value: 'header',
	description: 'A header of the request, named below',
};
const PROVIDER: INodePropertyOptions = {
	name: 'Provider',
	value: 'provider',
	description: 'Recommended. Where the chosen provider puts it.',
};
const TIME_SLOT: INodePropertyOptions = {
	name: 'Time Slot',
	value: 'timeSlot',
	description: 'For Schedule Trigger: one claim per slot of time',
};

const eventIdFrom = {
	displayName: 'Event ID From',
	name: 'eventIdFrom',
	type: 'options',
	noDataExpression: true,
	description: 'What makes two deliveries the same event',
} as const;

/** What makes two deliveries the same event. */
export const eventIdFields: INodeProperties[] = [
	{
		...eventIdFrom,
		default: 'provider',
		displayOptions: { show: { provider: withOwnId } },
		options: [BODY_HASH, EXPRESSION, PROVIDER, TIME_SLOT],
	},
	{
		...eventIdFrom,
		default: 'expression',
		displayOptions: { show: { provider: withoutOwnId } },
		options: [BODY_HASH, EXPRESSION, TIME_SLOT],
	},
	{
		...eventIdFrom,
		default: 'expression',
		displayOptions: { show: { provider: [CUSTOM] } },
		options: [BODY_HASH, EXPRESSION, HEADER, TIME_SLOT],
	},
	{
		displayName: 'Event ID',
		name: 'eventId',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. {{ $json.body.id }}',
		hint: 'Must be the same for every delivery of the same event',
		displayOptions: { show: { eventIdFrom: ['expression'] } },
		description: 'The ID that the sender gave the event. A list of values makes a combined ID.',
	},
	{
		displayName: 'Event ID Header',
		name: 'eventIdHeader',
		type: 'string',
		default: '',
		required: true,
		placeholder: 'e.g. X-Event-Id',
		displayOptions: { show: { eventIdFrom: ['header'] } },
		description: 'Name of the request header with the event ID',
	},
	{
		displayName: 'Fields to Ignore',
		name: 'ignoredFields',
		type: 'string',
		default: '',
		placeholder: 'e.g. sent_at, meta.attempt',
		hint: 'Fields that change between deliveries of the same event',
		displayOptions: { show: { eventIdFrom: ['bodyHash'] } },
		description:
			'Comma-separated paths within the body, without "body." in front. A path that begins with a slash is read as a JSON pointer, for names that contain dots.',
	},
	{
		displayName: 'Slot Length',
		name: 'slotLength',
		type: 'options',
		noDataExpression: true,
		default: 3600,
		displayOptions: { show: { eventIdFrom: ['timeSlot'] } },
		options: [
			{ name: '5 Minutes', value: 300 },
			{ name: 'Day', value: 86400 },
			{ name: 'Hour', value: 3600 },
			{ name: 'Minute', value: 60 },
		],
		description: 'How long a slot is. Slots begin on the full minute, hour or day, in UTC.',
	},
];
