import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { type ClaimMessage, decodeReceipt, type EventKey, loadCore, messagesOf, type OutboxMessage } from '../../../src/index';
import { detailsIn, keyIn } from '../events/details';
import { Lineages } from '../events/lineage';
import { messageOf } from '../outboxOption';
import { Parameters } from '../parameters';
import { asProblem, type Problem } from '../problems';
import type { Run } from '../run';
import { readScope } from '../scope';
import { earlierRuns } from './earlierRuns';
import { outboxProblems } from './outboxProblems';

/** What the items of one run ask for, in their order. */
export function newMessages(context: IExecuteFunctions, run: Run, items: readonly INodeExecutionData[]): Array<OutboxMessage | Problem> {
	const lineages = new Lineages(context);
	const wishes = items.map((item, itemIndex): Wish | Problem => {
		try {
			return readWish(context, run, new Parameters(context, itemIndex), eventOf(lineages, item, itemIndex));
		} catch (thrown) {
			return asProblem(thrown);
		}
	});
	const count = earlierRuns(context, run);
	const named = new Map<Wish, OutboxMessage>();
	for (const group of byEvent(wishes)) {
		const [{ scope, idempotencyKey }] = group;
		const wanted = group.map(({ message }) => message);
		const messages = messagesOf(wanted, scope, idempotencyKey, count(nameOf(group[0]), wanted));
		for (const [at, wish] of group.entries()) named.set(wish, messages[at] as OutboxMessage);
	}
	return wishes.map((wish) => (wish instanceof Error ? wish : (named.get(wish) as OutboxMessage)));
}

interface Wish {
	readonly message: ClaimMessage;
	readonly scope: string;
	/** Of the event that the message is about; empty where there is none, and then the message has a key of its own. */
	readonly idempotencyKey: string;
}

/** The scope is the event's too, since it may be another workflow that recovers it, and that must add nothing anew. */
function readWish(context: IExecuteFunctions, run: Run, parameters: Parameters, event: EventKey | null): Wish {
	const message = messageOf({
		topic: parameters.text('topic', 'Topic'),
		body: parameters.value('body', 'Body', '{}'),
		messageKey: parameters.text('options.messageKey', 'Message Key'),
		orderingKey: parameters.text('options.orderingKey', 'Ordering Key'),
	});
	if (message.messageKey === null && event === null) throw outboxProblems.keyMissing();
	const delayMinutes = parameters.number('options.delayMinutes', 'Delay (Minutes)', [0, YEAR_IN_MINUTES], 0);
	return {
		message: { ...message, delayMs: Math.round(delayMinutes * MINUTE) },
		scope: event?.scope ?? readScope(context, parameters, run.test),
		idempotencyKey: event ? loadCore().idempotencyKey(event) : '',
	};
}

const MINUTE = 60_000;
const YEAR_IN_MINUTES = 525_600;

/** `null`: the item is not about an event. */
function eventOf(lineages: Lineages, item: INodeExecutionData, itemIndex: number): EventKey | null {
	const [details, ...others] = detailsIn(item.json);
	if (details && others.length === 0) return keyIn(details);
	const lineage = lineages.of(itemIndex);
	return lineage.type === 'claimed' ? (decodeReceipt(lineage.claimToken)?.key ?? null) : null;
}

function byEvent(wishes: ReadonlyArray<Wish | Problem>): Array<[Wish, ...Wish[]]> {
	const groups = new Map<string, [Wish, ...Wish[]]>();
	for (const wish of wishes) {
		if (wish instanceof Error) continue;
		const name = nameOf(wish);
		const group = groups.get(name);
		if (group) group.push(wish);
		else groups.set(name, [wish]);
	}
	return [...groups.values()];
}

/** Names the event that the message is about. */
function nameOf({ scope, idempotencyKey }: Wish): string {
	return JSON.stringify([scope, idempotencyKey]);
}
