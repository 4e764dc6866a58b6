import { loadCore } from '../../src/index';
import { messageItem } from '../IdempotencyGate/outbox/messageItem';
import { readMessageRules } from '../IdempotencyGate/outbox/messageRules';
import type { Source } from './source';

/** Messages that are due for sending, leased. */
export const outboxMessages: Source = {
	nothing: 'There are no outbox messages to show',

	async take(store, parameters) {
		const rules = readMessageRules(parameters, 'none');
		const messages = await store.nextMessages({ ...rules, owner: loadCore().newToken() });
		return messages.map(messageItem);
	},

	async show(store, parameters) {
		const { leaseMs: _, ...rules } = readMessageRules(parameters, 'none');
		return (await store.showMessages({ ...rules, limit: 1 })).map(messageItem);
	},
};
