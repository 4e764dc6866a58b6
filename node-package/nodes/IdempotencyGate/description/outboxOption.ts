import type { INodeProperties } from 'n8n-workflow';

/** Messages that are stored in one transaction with the claim, or with its end. */
export const outboxOption: INodeProperties = {
	displayName: 'Outbox Message',
	name: 'outboxMessage',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add message',
	default: {},
	options: [
		{
			displayName: 'Message',
			name: 'messages',
			values: [
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
				{
					displayName: 'Message Key',
					name: 'messageKey',
					type: 'string',
					default: '',
					placeholder: 'e.g. {{ $json.body.id }}-receipt',
					description: "A message with a known key is not stored again. Where it is empty, it is 'idempotencyKey-topic'.",
				},
				{
					displayName: 'Ordering Key',
					name: 'orderingKey',
					type: 'string',
					default: '',
					placeholder: 'e.g. {{ $json.body.data.object.customer }}',
					description: 'Messages about one topic with the same ordering key are sent in their order, one at a time',
				},
			],
		},
	],
	description: 'A message to be sent, stored in one transaction with what happens to the event: never one without the other',
};
