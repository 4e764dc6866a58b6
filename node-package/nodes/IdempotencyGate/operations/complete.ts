import type { IExecuteFunctions } from 'n8n-workflow';
import { type ClaimMessage, loadCore, messagesOf, type Settle, type SettleReply } from '../../../src/index';
import { ownerOperation } from '../events/ownerOperation';
import { readOutboxOption } from '../outboxOption';
import type { Parameters } from '../parameters';
import { problems } from '../problems';
import { lateHint } from './settling';

interface Completed {
	readonly result?: unknown;
	readonly resumed: boolean;
	readonly messages: readonly ClaimMessage[];
}

/** Marks the claimed event as done. */
export const complete = ownerOperation<Completed, SettleReply>({
	outputs: 1,

	read: (parameters, context) => ({
		...readResult(parameters),
		// "Retry" goes on with an execution that failed, and that an error workflow may have marked as failed.
		resumed: isRetry(context),
		messages: readOutboxOption(parameters),
	}),

	merge: (earlier, later) => ({ ...earlier, messages: [...earlier.messages, ...newIn(later.messages, earlier.messages)] }),

	carryOut: async (store, asks) => {
		return await store.settle(
			asks.map(({ settings: { messages, ...end }, ...claim }): Settle => {
				const outbox = messagesOf(messages, claim.key.scope, loadCore().idempotencyKey(claim.key));
				return { ...claim, to: { state: 'completed', ...end, ...(outbox.length > 0 && { outbox }) } };
			}),
		);
	},

	tell: ({ verdict }, { settings }) => ({
		outcome: 'completed',
		message: verdict === 'already' ? 'The event had been completed before' : 'The event is completed',
		details: { verdict, leaseUntil: null },
		...(verdict === 'late' && { hint: lateHint('completed') }),
		...(verdict === 'already' && settings.messages.length > 0 && { hint: MESSAGES_WITH_THE_END }),
	}),
});

/** A message that every item gives alike is the event's; it is not sent as often as there are items. */
function newIn(messages: readonly ClaimMessage[], known: readonly ClaimMessage[]): readonly ClaimMessage[] {
	const names = new Set(known.map((message) => JSON.stringify(message)));
	return messages.filter((message) => !names.has(JSON.stringify(message)));
}

const MESSAGES_WITH_THE_END =
	"The event had been completed before, and the messages of 'Outbox Message' are stored only when it is completed. If it was not an earlier try of this node that completed it, they are not stored: add them with the operation 'Add Message'";

function isRetry(context: IExecuteFunctions): boolean {
	return context.getMode() === 'retry';
}

/** Kept with the record and handed to every later duplicate, so it is to be small. */
const MOST_RESULT_BYTES = 16_384;

function readResult(parameters: Parameters): { result?: unknown } {
	const value = parameters.value('options.result', 'Result', '');
	if (value === undefined || value === null || value === '') return {};
	const result: unknown = typeof value === 'string' ? parsed(value) : value;
	const { length } = Buffer.from(JSON.stringify(result));
	if (length > MOST_RESULT_BYTES) {
		throw problems.parameterTooLarge('Result', length, MOST_RESULT_BYTES, 'Store what later duplicates need, such as the ID of what was made');
	}
	return { result };
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (cause) {
		throw problems.parameterInvalid('Result', cause as Error);
	}
}
