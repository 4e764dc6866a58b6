import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { decodeReceipt, type EventKey, loadCore, type OutboxMessage } from '../../../src/index';
import { detailsIn, keyIn } from '../events/details';
import { Lineages } from '../events/lineage';
import type { Parameters } from '../parameters';
import type { Run } from '../run';
import { readScope } from '../scope';
import { outboxProblems } from './outboxProblems';

/** The messages of one run, as the parameters ask for them. */
export class NewMessages {
	private readonly lineages: Lineages;
	/** How many messages of one event about one topic there were: those after the first are numbered. */
	private readonly numbers = new Map<string, number>();

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly run: Run,
	) {
		this.lineages = new Lineages(context);
	}

	/** Throws a `Problem`. */
	read(parameters: Parameters, item: INodeExecutionData, itemIndex: number): OutboxMessage {
		const topic = parameters.text('topic', 'Topic');
		if (topic === '') throw outboxProblems.topicMissing();
		const orderingKey = parameters.text('options.orderingKey', 'Ordering Key');
		const delayMinutes = parameters.number('options.delayMinutes', 'Delay (Minutes)', [0, YEAR_IN_MINUTES], 0);
		return {
			...this.name(parameters, topic, item, itemIndex),
			topic,
			orderingKey: orderingKey === '' ? null : orderingKey,
			body: readBody(parameters),
			delayMs: Math.round(delayMinutes * MINUTE),
		};
	}

	/**
	 * By default made of the event's own key, so that a second attempt at the event adds nothing: for that, the scope has to
	 * be the event's too, since it may be another workflow which recovers it.
	 */
	private name(parameters: Parameters, topic: string, item: INodeExecutionData, itemIndex: number): Pick<OutboxMessage, 'scope' | 'messageKey'> {
		const event = this.eventOf(item, itemIndex);
		const scope = event?.scope ?? readScope(this.context, parameters, this.run.test);
		const given = parameters.text('options.messageKey', 'Message Key');
		if (given !== '') return { scope, messageKey: given };
		if (event === null) throw outboxProblems.keyMissing();
		const messageKey = `${loadCore().idempotencyKey(event)}-${topic}`;
		const nth = (this.numbers.get(messageKey) ?? 0) + 1;
		this.numbers.set(messageKey, nth);
		return { scope, messageKey: nth === 1 ? messageKey : `${messageKey}-${nth}` };
	}

	/** `null`: the item is not about an event. */
	private eventOf(item: INodeExecutionData, itemIndex: number): EventKey | null {
		const [details, ...others] = detailsIn(item.json);
		if (details && others.length === 0) return keyIn(details);
		const lineage = this.lineages.of(itemIndex);
		return lineage.type === 'claimed' ? (decodeReceipt(lineage.claimToken)?.key ?? null) : null;
	}
}

const MINUTE = 60_000;
const YEAR_IN_MINUTES = 525_600;

/** A text is JSON already; anything else that an expression gives becomes it. */
function readBody(parameters: Parameters): string {
	const value = parameters.value('body', 'Body', '{}');
	if (typeof value !== 'string') return JSON.stringify(value ?? null);
	try {
		JSON.parse(value);
	} catch (cause) {
		throw outboxProblems.bodyNotJson(cause);
	}
	return value;
}
