import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { loadCore } from '../../../src/index';
import { openStore } from '../connect/store';
import { handOut } from '../handOut';
import { messageItem } from '../outbox/messageItem';
import { readMessageRules } from '../outbox/messageRules';
import { ownersOf } from '../owners';
import { Parameters } from '../parameters';

/** Leases the messages that are due. Retry On Fail, after a lost answer, gets the same ones again. */
export async function getNextMessages(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	return await handOut(context, async (run) => {
		const rules = readMessageRules(new Parameters(context, 0), run.test);
		const [owner] = ownersOf(context, loadCore(), run, 1) as [string];
		const store = await openStore(context);
		const messages = await store.nextMessages({ ...rules, owner });
		return messages.length > 0 ? [messages.map(messageItem), []] : [[], [{ json: { messages: 0 } }]];
	});
}
