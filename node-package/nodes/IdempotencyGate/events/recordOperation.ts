import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { EventKey, Store } from '../../../src/index';
import { openStore } from '../connect/store';
import { Parameters } from '../parameters';
import { asProblem, type Problem } from '../problems';
import type { Run } from '../run';
import { type Answer, answerItems, failed } from './answers';
import { keyDetails } from './details';
import { Lineages } from './lineage';
import { readTarget } from './selection';

/** Something that anybody may ask about a record, owner or not. */
export interface RecordOperation<Settings> {
	/** What the parameters of one item ask for. Throws a `Problem`. */
	read(parameters: Parameters): Settings;
	/** Fields of an item for which the store gave no answer. */
	readonly unasked?: IDataObject;
	/** One call of the store for all. One answer each, in their order. */
	carryOut(store: Store, orders: ReadonlyArray<Order<Settings>>, context: IExecuteFunctions, run: Run): Promise<Told[]>;
}

export interface Order<Settings> {
	readonly itemIndex: number;
	readonly key: EventKey;
	readonly settings: Settings;
}

export type Told = Omit<Answer, 'itemIndex' | 'problem'> & { readonly problem?: Problem };

export function recordOperation<Settings>(operation: RecordOperation<Settings>) {
	return async (context: IExecuteFunctions): Promise<INodeExecutionData[][]> => {
		return await answerItems(context, 1, async (run, items) => {
			const asking = { context, run, lineages: new Lineages(context), asOwner: false };
			const read = items.map((item, itemIndex): Order<Settings> | Answer => {
				try {
					const parameters = new Parameters(context, itemIndex);
					const target = readTarget(asking, parameters, item, itemIndex);
					if (target.type === 'unclaimed' || target.type === 'executions') return withoutEvent(itemIndex);
					const key = target.type === 'key' ? target.key : target.receipt.key;
					return { itemIndex, key, settings: operation.read(parameters) };
				} catch (thrown) {
					return failed(itemIndex, asProblem(thrown));
				}
			});
			const orders = read.filter((one): one is Order<Settings> => 'key' in one);
			const stopped = read.filter((one): one is Answer => 'problem' in one && one.problem !== null);
			// What stops the workflow stops it before anything is changed.
			if (stopped.length > 0 && !context.continueOnFail()) return stopped;
			const told = await carryOut(context, run, operation, orders);
			const answers = read.map((one) => ('key' in one ? (told.get(one) as Answer) : one));
			return answers.map((answer) => ({ ...(operation.unasked && { fields: operation.unasked }), ...answer }));
		});
	};
}

async function carryOut<Settings>(
	context: IExecuteFunctions,
	run: Run,
	operation: RecordOperation<Settings>,
	orders: ReadonlyArray<Order<Settings>>,
): Promise<Map<Order<Settings>, Answer>> {
	if (orders.length === 0) return new Map();
	try {
		const told = await operation.carryOut(await openStore(context), orders, context, run);
		return new Map(orders.map((order, at) => [order, answerOf(order, told[at] as Told)]));
	} catch (thrown) {
		const problem = asProblem(thrown);
		return new Map(orders.map((order) => [order, failed(order.itemIndex, problem, keyDetails(order.key))]));
	}
}

function answerOf<Settings>({ itemIndex, key }: Order<Settings>, { problem, details, ...told }: Told): Answer {
	const reason = problem && { reason: problem.reason, message: problem.inItem };
	return { ...told, itemIndex, details: { ...keyDetails(key), ...details, ...reason }, problem: problem ?? null };
}

/** A duplicate that a test or Observe mode let through, of which the gate said not even the key. */
function withoutEvent(itemIndex: number): Answer {
	return { itemIndex, details: { outcome: 'not_claimed', message: 'The item belongs to no event' }, problem: null };
}
