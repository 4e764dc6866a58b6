import type { ExtensionReply } from '../../../src/index';
import { isoTime } from '../events/details';
import { ownerOperation } from '../events/ownerOperation';
import { readLeaseMs } from '../lease';

/** Begins the lease anew, so that long work is not taken for abandoned. */
export const extendLease = ownerOperation<{ readonly leaseMs: number }, ExtensionReply>({
	outputs: 1,

	read: (parameters) => ({ leaseMs: readLeaseMs(parameters, 'leaseMinutes') }),

	carryOut: async (store, asks) => await store.extend(asks.map(({ settings, ...claim }) => ({ ...claim, ...settings }))),

	tell: ({ leaseUntilMs }) => ({
		outcome: 'extended',
		message: `The lease runs until ${isoTime(leaseUntilMs)}`,
		details: { leaseUntil: isoTime(leaseUntilMs) },
	}),
});
