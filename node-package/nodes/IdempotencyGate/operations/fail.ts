import type { Settle, SettleReply } from '../../../src/index';
import { ownerOperation } from '../events/ownerOperation';
import { lateHint, readReason, readRetryAfter } from './settling';

type Failed = Extract<Settle['to'], { state: 'failed' | 'dead' }>;

/** Records that handling did not finish, so that the event can be handed out again. */
export const fail = ownerOperation<Failed, SettleReply>({
	outputs: 1,

	read(parameters) {
		const error = readReason(parameters);
		if (!parameters.flag('retry', 'Retry', true)) return { state: 'dead', error };
		return { state: 'failed', error, retryAfterMs: readRetryAfter(parameters), maxAttempts: null };
	},

	carryOut: async (store, asks) => await store.settle(asks.map(({ settings, ...claim }): Settle => ({ ...claim, to: settings }))),

	tell({ verdict, state }, { settings }) {
		const again = state === 'failed' ? 'The event is marked as failed and will be handed out again' : 'The event is given up';
		const usedUp = state === 'dead' && settings.state === 'failed' ? ', since its attempts are used up' : '';
		return {
			outcome: state ?? settings.state,
			message: `${again}${usedUp}`,
			details: { verdict, leaseUntil: null, lastError: settings.error, needsAttention: state === 'dead' },
			...(verdict === 'late' && { hints: [lateHint('marked as failed')] }),
		};
	},
});
