import type { Resolution, ResolutionReply } from '../../../src/index';
import { eventProblems } from '../events/eventProblems';
import { type Order, recordOperation, type Told } from '../events/recordOperation';
import type { Parameters } from '../parameters';
import { problems } from '../problems';
import { readRequiredReason, readRetryAfter } from './settling';

type Settings = Omit<Resolution, 'key'>;

/** Says what became of an event whose outcome was uncertain. */
export const resolve = recordOperation<Settings>({
	read: (parameters) => ({ to: readEnd(parameters), reason: readRequiredReason(parameters), fence: readFence(parameters) }),

	// A throw because of one item loses no answer for the others: a retry finds them `already` resolved.
	async carryOut(store, orders) {
		const replies = await store.resolve(orders.map(({ key, settings }) => ({ key, ...settings })));
		return orders.map((order, at) => told(order, replies[at] as ResolutionReply));
	},
});

function told({ key, settings }: Order<Settings>, { verdict, state }: ResolutionReply): Told {
	switch (verdict) {
		case 'resolved':
		case 'already':
			return {
				details: {
					outcome: 'resolved',
					message: verdict === 'resolved' ? `The event is ${state} now` : `The event had been resolved to ${state} before`,
					status: state,
					lastError: settings.reason,
					needsAttention: state === 'dead',
				},
			};
		case 'not_uncertain':
			return { details: { outcome: verdict, status: state }, problem: eventProblems.notUncertain(state) };
		case 'fenced_out':
			return { details: { outcome: verdict, status: state }, problem: eventProblems.fenceOutdated() };
		case 'not_found':
			return { details: { outcome: verdict, status: null }, problem: eventProblems.eventNotFound(key.eventId, key.scope) };
	}
}

function readEnd(parameters: Parameters): Resolution['to'] {
	switch (parameters.choice('resolution', 'Resolution', ['completed', 'dead', 'failed'] as const, 'completed')) {
		case 'completed':
			return { state: 'completed' };
		case 'dead':
			return { state: 'dead' };
		case 'failed':
			return { state: 'failed', retryAfterMs: readRetryAfter(parameters, 0) };
	}
}

function readFence(parameters: Parameters): string | null {
	const fence = parameters.text('options.fence', 'Fence').trim();
	if (fence === '') return null;
	if (/^[1-9][0-9]{0,18}$/.test(fence)) return fence;
	throw problems.parameterUnsuitable('Fence', 'is not the fence of a claim', "Use the field 'idempotency.fence' of an item from Get");
}
