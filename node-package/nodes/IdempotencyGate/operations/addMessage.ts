import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { OutboxMessage } from '../../../src/index';
import { openStore } from '../connect/store';
import { type Answer, answerItems, failed } from '../events/answers';
import { OUTBOX } from '../outbox/messageItem';
import { NewMessages } from '../outbox/newMessages';
import { Parameters } from '../parameters';
import { asProblem, type Problem } from '../problems';

/** Stores messages that are to be sent. One with a key that is there already leaves by the second output. */
export async function addMessage(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const own = { resultField: OUTBOX };
	return await answerItems(
		context,
		2,
		async (run, items) => {
			const made = new NewMessages(context, run);
			const read = items.map((item, itemIndex): OutboxMessage | Problem => {
				try {
					return made.read(new Parameters(context, itemIndex), item, itemIndex);
				} catch (thrown) {
					return asProblem(thrown);
				}
			});
			const wrong = read.flatMap((one, itemIndex) => (one instanceof Error ? [failed(itemIndex, one)] : []));
			// What stops the workflow stops it before anything is stored.
			if (wrong.length > 0 && !context.continueOnFail()) return wrong;

			const messages = read.flatMap((one) => (one instanceof Error ? [] : [one]));
			const store = await openStore(context);
			const added = messages.length === 0 ? [] : await store.addMessages(messages);
			let next = 0;
			return read.map((one, itemIndex) => {
				return one instanceof Error ? failed(itemIndex, one) : answerOf(itemIndex, one, added[next++] === 'added');
			});
		},
		own,
	);
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
