import { loadCore, type ReopeningReply } from '../../../src/index';
import { eventProblems } from '../events/eventProblems';
import { type Order, recordOperation, type Told } from '../events/recordOperation';
import { handedOutDetails, rawBodyOf, requestOf } from '../handedOutItem';
import { readLeaseMs } from '../lease';
import { ownersOf } from '../owners';
import { readRequiredReason } from './settling';

interface Settings {
	readonly reason: string;
	readonly leaseMs: number;
}

/** Has an event that ended handled once more. What follows in the workflow is its owner, as after Claim. */
export const reopen = recordOperation<Settings>({
	read: (parameters) => ({ reason: readRequiredReason(parameters), leaseMs: readLeaseMs(parameters, 'options.leaseMinutes') }),

	async carryOut(store, orders, context, run) {
		const owners = ownersOf(context, loadCore(), run, context.getInputData().length);
		const ownerOf = ({ itemIndex }: Order<Settings>) => owners[itemIndex] as string;
		const replies = await store.reopen(
			orders.map((order) => {
				return { key: order.key, ...order.settings, owner: ownerOf(order), executionId: run.executionMark };
			}),
		);
		return orders.map((order, at) => told(order, ownerOf(order), replies[at] as ReopeningReply));
	},
});

function told({ key, settings }: Order<Settings>, owner: string, reply: ReopeningReply): Told {
	const { verdict, state, fence, attempt } = reply;
	switch (verdict) {
		case 'reopened': {
			const claim = { ...reply, key, owner, fence: fence as string, attempt: attempt as number, outcome: verdict };
			const details = handedOutDetails({ ...claim, error: settings.reason, executionIdBefore: null });
			const { payload } = reply;
			return {
				details: { ...details, message: 'The event is reopened and to be handled now' },
				fields: { claimed: true, ...(payload && requestOf(payload)) },
				...(payload && { binary: rawBodyOf(payload) }),
			};
		}
		case 'not_finished':
			return refused(verdict, state, eventProblems.notFinished(state));
		case 'guard_taken':
			return refused(verdict, state, eventProblems.guardTaken());
		case 'not_found':
			return refused(verdict, state, eventProblems.eventNotFound(key.eventId, key.scope));
	}
}

/** It goes on without a claim, and `claimed` says so. */
function refused(outcome: string, status: ReopeningReply['state'], problem: NonNullable<Told['problem']>): Told {
	return { details: { outcome, status }, fields: { claimed: false }, problem };
}
