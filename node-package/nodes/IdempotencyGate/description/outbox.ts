import type { INodeProperties } from 'n8n-workflow';
import { searchedScopeOptions } from '../searchedScope';
import { claimOptions } from './claimOptions';
import { FAILURE, leaseField, reasonField, retryAfterOption } from './lifecycleFields';
import type { Panel } from './panel';
import { limitField, testOption } from './recovery';

export const topicFilterField: INodeProperties = {
	displayName: 'Topic',
	name: 'topic',
	type: 'string',
	default: '',
	placeholder: 'e.g. receipt',
	hint: 'Empty: messages about anything',
	description: 'Only messages about this topic',
};

/** What the operation and the trigger have in common. */
export const messageOptions: INodeProperties[] = [
	leaseField('How long sending may take before the messages are handed out again'),
	...searchedScopeOptions,
];

/** Which message an item is about. */
const selection: INodeProperties[] = [
	{
		displayName: 'Message',
		name: 'message',
		type: 'options',
		noDataExpression: true,
		default: 'before',
		options: [
			{ name: 'By Message Token', value: 'messageToken' },
			{
				name: 'Handed Out Before This Node',
				value: 'before',
				description: "The message that 'Get Next Messages' or the trigger before this node handed out for the item",
			},
		],
		description: 'How to find the message',
	},
	{
		displayName: 'Message Token',
		name: 'messageToken',
		type: 'string',
		default: '={{ $json.outbox.messageToken }}',
		required: true,
		displayOptions: { show: { message: ['messageToken'] } },
		description: 'Proves who is sending the message. Each item with a message has one.',
	},
];

const scopeOptions = claimOptions.filter(({ name }) => ['scope', 'scopeName', 'testExecutions'].includes(name));

export const outboxPanels: readonly Panel[] = [
	{
		resource: 'outbox',
		operation: 'addMessage',
		name: 'Add Message',
		action: 'Add message to outbox',
		description: 'Store a message to be sent after this event, at most one time per key',
		fields: [
			{
				displayName: 'Topic',
				name: 'topic',
				type: 'string',
				default: '',
				required: true,
				placeholder: 'e.g. receipt',
				description: 'What the message is about. Whoever sends messages can ask for one topic.',
			},
			{
				displayName: 'Body',
				name: 'body',
				type: 'json',
				default: '{}',
				placeholder: 'e.g. {{ { order: $json.body.id } }}',
				description: 'What is to be sent, as JSON of at most 256 KB',
			},
		],
		options: [
			{
				displayName: 'Delay (Minutes)',
				name: 'delayMinutes',
				type: 'number',
				typeOptions: { minValue: 0 },
				default: 0,
				description: 'The message is not handed out before',
			},
			{
				displayName: 'Message Key',
				name: 'messageKey',
				type: 'string',
				default: '',
				placeholder: 'e.g. {{ $json.orderId }}-receipt',
				description:
					"Must be the same however often this is tried. A message with a known key is not stored again. Without it the key is made of the event's own and the topic, as 'idempotencyKey-topic'.",
			},
			{
				displayName: 'Ordering Key',
				name: 'orderingKey',
				type: 'string',
				default: '',
				placeholder: 'e.g. {{ $json.body.data.object.customer }}',
				description: 'Messages about one topic with the same ordering key are sent in their order, one at a time',
			},
			...scopeOptions,
		],
	},
	{
		resource: 'outbox',
		operation: 'getNextMessages',
		name: 'Get Next Messages',
		action: 'Get next messages from outbox',
		description: 'Lease messages that are due for sending',
		fields: [topicFilterField, limitField],
		options: [...messageOptions, testOption],
	},
	{
		resource: 'outbox',
		operation: 'markFailed',
		name: 'Mark Failed',
		action: 'Mark message of outbox as failed',
		description: 'Record that a message could not be sent, so that it is handed out again after a growing wait',
		fields: [...selection, reasonField('Why the message could not be sent, for people', FAILURE)],
		options: [
			{
				displayName: 'Maximum Attempts',
				name: 'maxAttempts',
				type: 'number',
				typeOptions: { minValue: 1 },
				default: 10,
				description: 'How many times a message is handed out before it is given up',
			},
			{ ...retryAfterOption, description: 'How long the message waits. Without this option up to 30 seconds at first, and up to an hour later.' },
		],
	},
	{
		resource: 'outbox',
		operation: 'markSent',
		name: 'Mark Sent',
		action: 'Mark message of outbox as sent',
		description: 'Record that a message has been sent, so that it is not handed out again',
		fields: selection,
		options: [],
	},
];
