import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';
import type { Store } from '../../src/index';
import type { Parameters } from '../IdempotencyGate/parameters';

/** Something that a workflow can be started by. */
export interface Source {
	/** What a person reads who tries the trigger when there is nothing. */
	readonly nothing: string;
	/** Hands out what is due, with a lease. */
	take(store: Store, parameters: Parameters, context: IPollFunctions): Promise<INodeExecutionData[]>;
	/** One item at most, for a person who builds the workflow. Nothing is taken, and nothing is changed. */
	show(store: Store, parameters: Parameters): Promise<INodeExecutionData[]>;
}
