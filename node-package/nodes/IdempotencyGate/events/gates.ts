import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { detailsIn } from './details';

/** A node of ours that hands out claims. */
export interface Gate {
	readonly name: string;
	/** Where it puts the details; `null` where the name is computed. */
	readonly resultField: string | null;
	/** True where its claims are production's also in a test, as the user wants it. */
	readonly productionInTests: boolean;
	/** Nodes from here to there. */
	readonly distance: number;
	/** Names of the nodes before it. */
	readonly before: ReadonlySet<string>;
}

/** In no order. */
export function gatesBefore(context: IExecuteFunctions): Gate[] {
	const { name } = context.getNode();
	const nodes = ownBefore(context, (operation) => operation === 'trigger' || HANDING_OUT.has(operation));
	return nodes.map(({ name: gate, parameters }): Gate => {
		const { resultField, testExecutions } = (parameters?.['options'] ?? {}) as { resultField?: string; testExecutions?: string };
		return {
			name: gate,
			resultField: resultField?.startsWith('=') ? null : resultField || 'idempotency',
			productionInTests: testExecutions === 'production' || ON_REQUEST.has(parameters?.['operation'] as string),
			// With one gate there is nothing to compare.
			distance: nodes.length > 1 ? distanceTo(context, name, gate) : 0,
			before: new Set(nodes.length > 1 ? context.getParentNodes(gate).map((node) => node.name) : []),
		};
	});
}

const HANDING_OUT = new Set(['claim', 'recover', 'reopen']);

/** What a person has asked for by name. */
const ON_REQUEST = new Set(['recover', 'reopen']);

/** Names of the nodes that complete events. */
export function completesBefore(context: IExecuteFunctions): string[] {
	return ownBefore(context, (operation) => operation === 'complete').map(({ name }) => name);
}

/** Nodes of ours before this one, by what they do. */
function ownBefore(context: IExecuteFunctions, isWanted: (operation: string) => boolean): NodeBefore[] {
	const { name, type } = context.getNode();
	const gateType = type.replace(/Tool$/, '');
	return context.getParentNodes(name, { includeNodeParameters: true }).filter((node) => {
		if (node.disabled || node.name === name) return false;
		if (node.type === `${gateType}Trigger`) return isWanted('trigger');
		return node.type === gateType && isWanted((node.parameters?.['operation'] as string | undefined) ?? 'claim');
	});
}

type NodeBefore = ReturnType<IExecuteFunctions['getParentNodes']>[number];

/** A gate that stands before another one is farther away, however short some other way to it is. */
export function byNearness(a: Gate, b: Gate): number {
	const aFirst = b.before.has(a.name);
	const bFirst = a.before.has(b.name);
	// In a loop each stands before the other.
	if (aFirst !== bFirst) return aFirst ? 1 : -1;
	return a.distance - b.distance;
}

/** On two branches that were merged. */
export function areSideBySide(a: Gate, b: Gate): boolean {
	return a.name !== b.name && !a.before.has(b.name) && !b.before.has(a.name);
}

function distanceTo(context: IExecuteFunctions, from: string, to: string): number {
	for (let depth = 1; depth <= LONGEST_WAY; depth++) {
		if (context.getParentNodes(from, { depth }).some(({ name }) => name === to)) return depth;
	}
	return LONGEST_WAY;
}

const LONGEST_WAY = 100;

/** What a gate said of an item, in that gate's own output. */
export function detailsOf({ resultField }: Gate, { json }: INodeExecutionData): IDataObject | null {
	const own = resultField === null ? detailsIn(json).at(-1) : json[resultField];
	return (typeof own === 'object' ? own : null) as IDataObject | null;
}

/** All claims that a gate has handed out in this execution so far. */
export function tokensOf(context: IExecuteFunctions, gate: Gate): string[] {
	const { $items } = context.getWorkflowDataProxy(0);
	const tokens: string[] = [];
	for (let run = 0; ; run++) {
		let items: INodeExecutionData[];
		try {
			items = $items(gate.name, 0, run) as INodeExecutionData[];
		} catch {
			// It has not run so often, or not at all.
			return tokens;
		}
		const found = items.map((item) => detailsOf(gate, item)?.['claimToken']);
		tokens.push(...found.filter((token) => typeof token === 'string'));
	}
}
