import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { MessageEnd, MessageReply } from '../../../src/index';
import { openStore } from '../connect/store';
import { type Answer, answerItems, failed } from '../events/answers';
import { isoTime } from '../events/details';
import { Parameters } from '../parameters';
import { asProblem, type Problem } from '../problems';
import { readMessage } from './messageBefore';
import { OUTBOX } from './messageItem';
import { outboxProblems } from './outboxProblems';

/** An operation that says what became of the messages of its items. They end in one call of the store. */
export function endMessages(read: (parameters: Parameters) => MessageEnd['to']) {
	return async (context: IExecuteFunctions): Promise<INodeExecutionData[][]> => {
		return await answerItems(context, 1, async (_, items) => await end(context, items, read), { resultField: OUTBOX });
	};
}

type Asked = { readonly itemIndex: number; readonly end: MessageEnd } | { readonly itemIndex: number; readonly problem: Problem };

async function end(
	context: IExecuteFunctions,
	items: readonly INodeExecutionData[],
	read: (parameters: Parameters) => MessageEnd['to'],
): Promise<Answer[]> {
	const asked = items.map((_, itemIndex): Asked => {
		try {
			const parameters = new Parameters(context, itemIndex);
			return { itemIndex, end: { ...readMessage(context, parameters, itemIndex), to: read(parameters) } };
		} catch (thrown) {
			return { itemIndex, problem: asProblem(thrown) };
		}
	});
	const wrong = asked.flatMap((one) => ('problem' in one ? [failed(one.itemIndex, one.problem)] : []));
	// What stops the workflow stops it before anything is changed.
	if (wrong.length > 0 && !context.continueOnFail()) return wrong;

	// Several items may stem from one message, which ends once.
	const ends = new Map(asked.flatMap((one) => ('end' in one ? [[one.end.id, one.end] as const] : [])));
	if (ends.size === 0) return wrong;
	const store = await openStore(context);
	const replies = await store.settleMessages([...ends.values()]);
	const replyTo = new Map([...ends.keys()].map((id, at) => [id, replies[at] as MessageReply]));
	return asked.map((one) => {
		if ('problem' in one) return failed(one.itemIndex, one.problem);
		return answerOf(one.itemIndex, one.end.to, replyTo.get(one.end.id) as MessageReply);
	});
}

function answerOf(itemIndex: number, to: MessageEnd['to'], { verdict, nextAttemptAtMs }: MessageReply): Answer {
	if (verdict === 'fenced_out') return failed(itemIndex, outboxProblems.noLongerHeld(), { outcome: 'fenced_out' });
	const outcome = verdict === 'already' ? to.state : verdict;
	const details: IDataObject = {
		outcome,
		message: MESSAGES[outcome],
		...(to.state === 'failed' && { nextAttemptAt: isoTime(nextAttemptAtMs), lastError: to.error }),
	};
	return { itemIndex, details, problem: null };
}

const MESSAGES = {
	sent: 'The message has been sent',
	failed: 'The message will be handed out again',
	dead: 'The message is given up, since its attempts are used up. Later messages with its ordering key wait',
} as const;
