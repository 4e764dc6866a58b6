import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { LeasedMessage, ShownMessage } from '../../../src/index';
import { isoTime } from '../events/details';
import { encodeMessageToken } from './messageToken';

/** Name of the field with what is known of a message, beside what is to be sent. */
export const OUTBOX = 'outbox';

/**
 * A message that is to be sent, or that is only shown to a person who builds a workflow. `messageKey` is for the receiver:
 * it is the same however often the message is sent.
 */
export function messageItem(message: LeasedMessage | ShownMessage): INodeExecutionData {
	const { topic, messageKey, body } = message;
	const lease = 'fence' in message ? message : null;
	return {
		json: {
			topic,
			messageKey,
			body: JSON.parse(body) as IDataObject,
			[OUTBOX]: {
				scope: message.scope,
				orderingKey: message.orderingKey,
				attempt: message.attempt,
				createdAt: isoTime(message.createdAtMs),
				leaseUntil: isoTime(lease?.leaseUntilMs ?? null),
				messageToken: lease && encodeMessageToken(lease),
				lastError: message.error,
				test: message.scope.startsWith('test:'),
			},
		},
	};
}
