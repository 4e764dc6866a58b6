import type { IExecuteFunctions } from 'n8n-workflow';
import { type ClaimMessage, loadCore, messagesOf, type Settle, type SettleReply } from '../../../src/index';
import { ownerOperation } from '../events/ownerOperation';
import { readOutboxOption } from '../outboxOption';
import type { Parameters } from '../parameters';
import { problems } from '../problems';
import { lateHint } from './settling';

interface Completed {
	readonly result?: unknown;
	/** Bytes of a result that is not kept, since it is too large. */
	readonly tooLarge: number | null;
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
			asks.map(({ settings: { messages, tooLarge: _, ...end }, ...claim }): Settle => {
				const outbox = messagesOf(messages, claim.key.scope, loadCore().idempotencyKey(claim.key));
				return { ...claim, to: { state: 'completed', ...end, ...(outbox.length > 0 && { outbox }) } };
			}),
		);
	},

	tell({ verdict }, { settings: { messages, tooLarge } }) {
		const hints = [
			...(verdict === 'late' ? [lateHint('completed')] : []),
			...(verdict === 'already' && messages.length > 0 ? [MESSAGES_ONCE] : []),
			...(tooLarge === null ? [] : [tooLargeHint(tooLarge)]),
		];
		return {
			outcome: 'completed',
			message: verdict === 'already' ? 'The event had been completed before' : 'The event is completed',
			details: { verdict, leaseUntil: null, ...(tooLarge !== null && { resultStored: false }) },
			hints,
		};
	},
});

/** A message that every item gives alike is the event's; it is not sent as often as there are items. */
function newIn(messages: readonly ClaimMessage[], known: readonly ClaimMessage[]): readonly ClaimMessage[] {
	const names = new Set(known.map((message) => JSON.stringify(message)));
	return messages.filter((message) => !names.has(JSON.stringify(message)));
}

const MESSAGES_ONCE =
	"The event had been completed before. A message of 'Outbox Message' whose key was there already is not stored again: give each a 'Message Key' of its own, or use the operation 'Add Message'";

function isRetry(context: IExecuteFunctions): boolean {
	return context.getMode() === 'retry';
}

/** Kept with the record and handed to every later duplicate, so it is to be small. */
const MOST_RESULT_BYTES = 16_384;

/** The work is done by now, so a result that is too large is no reason to leave the event unfinished. */
function readResult(parameters: Parameters): { result?: unknown; tooLarge: number | null } {
	const value = parameters.value('options.result', 'Result', '');
	if (value === undefined || value === null || value === '') return { tooLarge: null };
	const result: unknown = typeof value === 'string' ? parsed(value) : value;
	const { length } = Buffer.from(JSON.stringify(result));
	return length > MOST_RESULT_BYTES ? { tooLarge: length } : { result, tooLarge: null };
}

function tooLargeHint(bytes: number): string {
	return `'Result' has ${bytes} bytes and is not kept: at most ${MOST_RESULT_BYTES} are. Keep what later duplicates need, such as the ID of what was made`;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (cause) {
		throw problems.parameterInvalid('Result', cause as Error);
	}
}
