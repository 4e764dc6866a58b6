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

interface Asked {
	readonly itemIndex: number;
	/** `null` where there is a problem, or the message was only shown. */
	readonly end: MessageEnd | null;
	readonly problem: Problem | null;
}

async function end(
	context: IExecuteFunctions,
	items: readonly INodeExecutionData[],
	read: (parameters: Parameters) => MessageEnd['to'],
): Promise<Answer[]> {
	const asked = items.map((_, itemIndex): Asked => {
		try {
			const parameters = new Parameters(context, itemIndex);
			const message = readMessage(context, parameters, itemIndex);
			return { itemIndex, end: message && { ...message, to: read(parameters) }, problem: null };
		} catch (thrown) {
			return { itemIndex, end: null, problem: asProblem(thrown) };
		}
	});
	const wrong = asked.flatMap(({ itemIndex, problem }) => (problem ? [failed(itemIndex, problem)] : []));
	// What stops the workflow stops it before anything is changed.
	if (wrong.length > 0 && !context.continueOnFail()) return wrong;

	// Several items may stem from one message, which ends once.
	const ends = new Map(asked.flatMap(({ end }) => (end ? [[end.id, end] as const] : [])));
	const replies = ends.size === 0 ? [] : await (await openStore(context)).settleMessages([...ends.values()]);
	const replyTo = new Map([...ends.keys()].map((id, at) => [id, replies[at] as MessageReply]));
	return asked.map(({ itemIndex, end, problem }) => {
		if (problem) return failed(itemIndex, problem);
		return end ? answerOf(itemIndex, end.to, replyTo.get(end.id) as MessageReply) : notHandedOut(itemIndex);
	});
}

/** No problem: a person is trying the workflow out. */
function notHandedOut(itemIndex: number): Answer {
	const message = 'The message was only shown, so nothing was changed';
	return { itemIndex, details: { outcome: 'not_handed_out', message }, problem: null };
}

function answerOf(itemIndex: number, to: MessageEnd['to'], { verdict, nextAttemptAtMs }: MessageReply): Answer {
	if (verdict === 'fenced_out') return failed(itemIndex, outboxProblems.noLongerHeld(), { outcome: 'fenced_out' });
	const outcome = verdict === 'already' ? endedBefore(to, nextAttemptAtMs) : verdict;
	const details: IDataObject = {
		outcome,
		message: MESSAGES[outcome],
		...(to.state === 'failed' && { nextAttemptAt: isoTime(nextAttemptAtMs), lastError: to.error }),
	};
	return { itemIndex, details, problem: null };
}

/** A message that failed and will not be handed out again is dead. */
function endedBefore({ state }: MessageEnd['to'], nextAttemptAtMs: number | null): keyof typeof MESSAGES {
	return state === 'failed' && nextAttemptAtMs === null ? 'dead' : state;
}

const MESSAGES = {
	sent: 'The message has been sent',
	failed: 'The message will be handed out again',
	dead: 'The message is given up, since its attempts are used up. Later messages with its ordering key wait',
} as const;
