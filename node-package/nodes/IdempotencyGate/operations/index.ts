import { NodeOperationError, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { addMessage } from './addMessage';
import { advance } from './advance';
import { claim } from './claim';
import { complete } from './complete';
import { extendLease } from './extendLease';
import { fail } from './fail';
import { get } from './get';
import { getMany } from './getMany';
import { getNextMessages } from './getNextMessages';
import { markFailed } from './markFailed';
import { markSent } from './markSent';
import { markUncertain } from './markUncertain';
import { recover } from './recover';
import { reopen } from './reopen';
import { resolve } from './resolve';

type Operation = (context: IExecuteFunctions) => Promise<INodeExecutionData[][]>;

/** What each panel of `description/operations.ts` does, by its resource and operation. */
const operations: Readonly<Record<string, Operation>> = {
	'event.advance': advance,
	'event.claim': claim,
	'event.complete': complete,
	'event.extendLease': extendLease,
	'event.fail': fail,
	'event.get': get,
	'event.getMany': getMany,
	'event.markUncertain': markUncertain,
	'event.reopen': reopen,
	'event.resolve': resolve,
	'outbox.addMessage': addMessage,
	'outbox.getNextMessages': getNextMessages,
	'outbox.markFailed': markFailed,
	'outbox.markSent': markSent,
	'store.recover': recover,
};

export function operationOf(context: IExecuteFunctions): Operation {
	const name = ['resource', 'operation'].map((part) => context.getNodeParameter(part, 0) as string).join('.');
	const operation = operations[name];
	if (operation) return operation;
	throw new NodeOperationError(context.getNode(), `The operation '${name}' does not exist in this version of the node`, {
		description: 'Update the package n8n-nodes-idempotency-gate, or choose another operation',
	});
}
