import type { Settle, SettleReply } from '../../../src/index';
import { ownerOperation } from '../events/ownerOperation';
import { lateHint, readReason } from './settling';

/** Says that the outcome is unknown: a person or a reconcile workflow decides, see `resolve.ts`. */
export const markUncertain = ownerOperation<{ readonly error: string }, SettleReply>({
	outputs: 1,

	read: (parameters) => ({ error: readReason(parameters) }),

	carryOut: async (store, asks) => {
		return await store.settle(asks.map(({ settings, ...claim }): Settle => ({ ...claim, to: { state: 'uncertain', ...settings } })));
	},

	tell: ({ verdict }, { settings }) => ({
		outcome: 'uncertain',
		message: 'The outcome of the event is unknown. It waits for the operation Resolve',
		details: { verdict, leaseUntil: null, lastError: settings.error, needsAttention: true },
		...(verdict === 'late' && { hints: [lateHint('marked as uncertain')] }),
	}),
});
