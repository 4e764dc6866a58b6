import { NodeOperationError, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { claim } from './claim';

type Operation = (context: IExecuteFunctions) => Promise<INodeExecutionData[][]>;

/** What each panel of `description/operations.ts` does, by its resource and operation. */
const operations: Readonly<Record<string, Operation>> = {
	'event.claim': claim,
};

export function operationOf(context: IExecuteFunctions): Operation {
	const name = ['resource', 'operation'].map((part) => context.getNodeParameter(part, 0) as string).join('.');
	const operation = operations[name];
	if (operation) return operation;
	throw new NodeOperationError(context.getNode(), `The operation '${name}' does not exist in this version of the node`, {
		description: 'Update the package n8n-nodes-idempotency-gate, or choose another operation',
	});
}
