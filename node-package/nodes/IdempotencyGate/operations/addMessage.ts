import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { OutboxMessage } from '../../../src/index';
import { openStore } from '../connect/store';
import { type Answer, answerItems, failed } from '../events/answers';
import { OUTBOX } from '../outbox/messageItem';
import { newMessages } from '../outbox/newMessages';
import type { Run } from '../run';

/** Stores messages that are to be sent. One with a key that is there already leaves by the second output. */
export async function addMessage(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	return await answerItems(context, 2, async (run, items) => await add(context, run, items), { resultField: OUTBOX });
}

async function add(context: IExecuteFunctions, run: Run, items: readonly INodeExecutionData[]): Promise<Answer[]> {
	const wanted = newMessages(context, run, items);
	const wrong = wanted.flatMap((one, itemIndex) => (one instanceof Error ? [failed(itemIndex, one)] : []));
	// What stops the workflow stops it before anything is stored.
	if (wrong.length > 0 && !context.continueOnFail()) return wrong;

	const messages = wanted.flatMap((one) => (one instanceof Error ? [] : [one]));
	const added = messages.length === 0 ? [] : await (await openStore(context)).addMessages(messages);
	let next = 0;
	return wanted.map((one, itemIndex) => {
		return one instanceof Error ? failed(itemIndex, one) : answerOf(itemIndex, one, added[next++] === 'added');
	});
}

function answerOf(itemIndex: number, { scope, topic, messageKey }: OutboxMessage, added: boolean): Answer {
	return {
		itemIndex,
		details: {
			outcome: added ? 'added' : 'already_added',
			message: added ? 'The message is stored and will be handed out' : 'A message with this key had been stored before',
			topic,
			messageKey,
			scope,
		},
		problem: null,
		output: added ? 0 : 1,
	};
}
