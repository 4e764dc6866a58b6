import assert from 'node:assert';
import type { LeasedMessage, MessageEnd, MessageReply, MessageSearch, OutboxMessage } from '../../store/outbox';
import type { Store } from '../../store/store';
import type { World } from '../world';
import { HOUR, newOwner, until } from './cast';

export function message(scope: string, messageKey: string, more: Partial<OutboxMessage> = {}): OutboxMessage {
	return { scope, messageKey, topic: 'mail', orderingKey: null, body: '{}', ...more };
}

/** All messages of the scope that are due, unless said otherwise. */
export function search(scope: string, more: Partial<MessageSearch> = {}): MessageSearch {
	return { scope, topic: null, limit: 1000, owner: newOwner(), leaseMs: HOUR, ...more };
}

export async function nextKeys(store: Store, wanted: MessageSearch): Promise<string[]> {
	return (await store.nextMessages(wanted)).map(({ messageKey }) => messageKey);
}

export async function nextOne(store: Store, wanted: MessageSearch): Promise<LeasedMessage> {
	const messages = await store.nextMessages(wanted);
	assert.equal(messages.length, 1, 'one message is due');
	return messages[0] as LeasedMessage;
}

/** Leases one message so that the lease is over when this returns. */
export async function nextBriefly(world: World, store: Store, wanted: MessageSearch): Promise<LeasedMessage> {
	const leased = await nextOne(store, { ...wanted, leaseMs: 1 });
	await until(async () => (await world.now()) > leased.leaseUntilMs + 1);
	return leased;
}

export async function endOne(store: Store, { id, owner, fence }: LeasedMessage, to: MessageEnd['to']): Promise<MessageReply> {
	const [reply] = await store.settleMessages([{ id, owner, fence, to }]);
	assert.ok(reply, 'one reply per end');
	return reply;
}

export const SENT = { state: 'sent' } as const;

export function failed(retryAfterMs = 0, maxAttempts = 5): MessageEnd['to'] {
	return { state: 'failed', error: 'HTTP 503', retryAfterMs, maxAttempts };
}
