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

/** Said in the item, since it leaves by the same output. */
const NOT_CLAIMED = { claimed: false };

/** Has an event that ended handled once more. What follows in the workflow is its owner, as after Claim. */
export const reopen = recordOperation<Settings>({
	read: (parameters) => ({ reason: readRequiredReason(parameters), leaseMs: readLeaseMs(parameters, 'options.leaseMinutes') }),

	unasked: NOT_CLAIMED,

	async carryOut(store, orders, context, run) {
		const owners = ownersOf(context, loadCore(), run, context.getInputData().length);
		const ownerOf = ({ itemIndex }: Order<Settings>) => owners[itemIndex] as string;
		// An event that several items name is handed out once.
		const firsts = new Map<string, Order<Settings>>();
		for (const order of orders) if (!firsts.has(nameOf(order))) firsts.set(nameOf(order), order);
		const asked = [...firsts.values()];
		const replies = await store.reopen(
			asked.map((order) => {
				return { key: order.key, ...order.settings, owner: ownerOf(order), executionId: run.executionMark };
			}),
		);
		const replyTo = new Map(asked.map((order, at) => [order, replies[at] as ReopeningReply]));
		return orders.map((order) => {
			const first = firsts.get(nameOf(order)) as Order<Settings>;
			const reply = replyTo.get(first) as ReopeningReply;
			if (order !== first && reply.verdict === 'reopened') return handedOutBefore(first);
			return told(order, ownerOf(order), reply);
		});
	},
});

function nameOf({ key: { scope, provider, eventId } }: Order<Settings>): string {
	return JSON.stringify([scope, provider, eventId]);
}

/** No problem: the event is being seen to. But not for this item, or it would be handled twice. */
function handedOutBefore({ itemIndex }: Order<Settings>): Told {
	const message = `The event is reopened for item ${itemIndex}, which names it too`;
	return { details: { outcome: 'in_progress', status: 'processing', message }, fields: NOT_CLAIMED };
}

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
				handsOut: true,
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
	return { details: { outcome, status }, fields: NOT_CLAIMED, problem };
}
