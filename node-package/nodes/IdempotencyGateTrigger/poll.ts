import { type INodeExecutionData, type IPollFunctions, NodeOperationError } from 'n8n-workflow';
import { openStoreFor } from '../IdempotencyGate/connect/store';
import { Parameters, type ParameterSource } from '../IdempotencyGate/parameters';
import { asNodeError, asProblem } from '../IdempotencyGate/problems';
import { deadLetters } from './deadLetters';
import { outboxMessages } from './outboxMessages';
import { unfinishedEvents } from './unfinishedEvents';
import type { Source } from './source';

const sources: Readonly<Record<'deadLetters' | 'outboxMessages' | 'unfinishedEvents', Source>> = {
	deadLetters,
	outboxMessages,
	unfinishedEvents,
};

/**
 * One look at the store. `null` where there is nothing to do, and then no execution begins. What is handed out has a
 * lease: if n8n dies before the execution has begun, the next look after its end finds it again.
 */
export async function poll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const byHand = context.getMode() === 'manual';
	let items: INodeExecutionData[];
	let source: Source;
	try {
		const parameters = new Parameters(withoutItems(context), 0);
		source = sources[parameters.choice('triggerOn', 'Trigger On', ['deadLetters', 'outboxMessages', 'unfinishedEvents'] as const, 'unfinishedEvents')];
		const store = await openStoreFor(context, parameters);
		items = byHand ? await source.show(store, parameters) : await source.take(store, parameters, context);
	} catch (thrown) {
		throw asNodeError(asProblem(thrown), context.getNode(), 0, 1);
	}
	if (items.length > 0) return [items];
	if (!byHand) return null;
	throw new NodeOperationError(context.getNode(), source.nothing, {
		description: 'A test shows what a poll would find at this moment, and leaves it where it is',
		level: 'warning',
	});
}

/** A trigger has no items, so its parameters are read without the index of one. */
function withoutItems(context: IPollFunctions): ParameterSource {
	return { getNodeParameter: (name, _item, otherwise, options) => context.getNodeParameter(name, otherwise, options) };
}
