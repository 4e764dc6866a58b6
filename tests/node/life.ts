/** A workflow in which a claim lives: Start, Gate, whatever handles the event, Done. */
import type { IDataObject, INode, INodeExecutionData, INodeType } from 'n8n-workflow';
import { acting, GATE, type Finished, type Flow } from './engine';
import { runGate, type Setup, type Stage } from './stage';

type Node = Flow['nodes'][number];

/** A node, or what one does with its items: they go on as they are, if it gives no others. */
export type Link = Node | { readonly name: string; readonly act: (items: INodeExecutionData[]) => Promise<unknown> };

/** Runs the nodes in a row behind Claimed. Unfinished events can be taken over, as where a workflow completes them. */
export async function runLife(stage: Stage, start: INodeExecutionData[], chain: readonly Link[], setup: Setup = {}): Promise<Finished> {
	const { nodes, types } = linked(chain);
	const names = ['Gate', ...chain.map(({ name }) => name), 'Done'];
	const { options, wires = [], ...rest } = setup;
	return await runGate(stage, start, {
		options: { unfinishedEvents: 'takeOver', ...options },
		...rest,
		nodes: [...nodes, { name: 'Done' }, ...(setup.nodes ?? [])],
		wires: [['Start', 'Gate'], ...names.slice(1).map((name, at) => [names[at]!, name] as const), ...wires],
		types: { ...types, ...setup.types },
	});
}

/** The nodes of a chain, and the types of those that the test does itself. */
export function linked(chain: readonly Link[]): { nodes: Node[]; types: Record<string, INodeType> } {
	const types: Record<string, INodeType> = {};
	const nodes = chain.map((link): Node => {
		if (!('act' in link)) return link;
		const { name, act } = link;
		types[`test.${name}`] = acting(async function () {
			const items = this.getInputData();
			const made = await act(items);
			return [Array.isArray(made) ? (made as INodeExecutionData[]) : items];
		});
		return { name, type: `test.${name}` };
	});
	return { nodes, types };
}

interface Settings {
	readonly name?: string;
	readonly parameters?: IDataObject;
	readonly options?: IDataObject;
	readonly node?: Partial<INode>;
}

/** A node of ours with an operation on events. Named as the operation, if not said. */
export function eventNode(operation: string, { name, parameters, options = {}, node }: Settings = {}): Node {
	return {
		name: name ?? operation.replace(/^./, (letter) => letter.toUpperCase()),
		type: GATE,
		parameters: { resource: 'event', operation, ...parameters, options } as IDataObject,
		credentials: { postgres: { id: '1', name: 'Postgres' } },
		...node,
	} as Node;
}

/** What most nodes do with an item: something else stands in it afterwards. Item pairing is n8n's. */
export const handle: Link = { name: 'Handle', act: async (items) => items.map((_, item) => ({ json: { charged: true }, pairedItem: { item } })) };

export interface Row {
	readonly state: string;
	readonly attempt: number;
	readonly fence: string;
	readonly error: string | null;
	readonly result: unknown;
	readonly stage: string | null;
	readonly execution_id: string | null;
	readonly waits_ms: number | null;
	readonly leased_ms: number | null;
}

/** The record of an event as the database has it. */
export async function rowOf({ database }: Stage, eventId: string): Promise<Row> {
	const { rows } = await database.query<Row>(
		`SELECT CASE state::text WHEN 'p' THEN 'processing' WHEN 'c' THEN 'completed' WHEN 'f' THEN 'failed'
				WHEN 'd' THEN 'dead' WHEN 'u' THEN 'uncertain' END AS state,
			attempt, fence::text, error, result, stage, execution_id,
			(extract(epoch FROM next_attempt_at - clock_timestamp()) * 1000)::float8 AS waits_ms,
			(extract(epoch FROM lease_until - clock_timestamp()) * 1000)::float8 AS leased_ms
		FROM n8n_idempotency_claims WHERE event_id = $1`,
		[eventId],
	);
	if (rows.length !== 1) throw new Error(`${rows.length} records of ${eventId}`);
	return rows[0]!;
}

/** The owner has been silent for as long as its lease. */
export async function endLease({ database }: Stage, eventId: string): Promise<void> {
	const past = "clock_timestamp() - interval '1 second'";
	const { rowCount } = await database.query(`UPDATE n8n_idempotency_claims SET lease_until = ${past} WHERE event_id = $1`, [eventId]);
	if (rowCount !== 1) throw new Error(`${rowCount} records of ${eventId}`);
}
