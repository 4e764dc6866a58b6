import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { detailsIn } from './details';

/** What the nearest gate before this node did with the item that the present one stems from. */
export type Lineage =
	| { readonly type: 'claimed'; readonly claimToken: string }
	/** Sent on without a claim (a duplicate in a test, anything in Observe mode), or a duplicate, or refused. */
	| { readonly type: 'let_through' | 'unclaimed'; readonly details: IDataObject | null }
	| { readonly type: 'no_gate' }
	/** A node in between does not say which of its items stems from which. */
	| { readonly type: 'lost'; readonly at: string }
	/** The item stems from several items of this gate, or from two gates side by side. */
	| { readonly type: 'ambiguous'; readonly gate: string };

/**
 * Follows n8n's item pairing back to the gate that claimed the event. By lineage and not by execution id: "Retry" of a
 * failed execution goes on with the old items under a new id.
 */
export class Lineages {
	/** Nearest first. */
	private readonly gates: readonly Gate[];

	constructor(private readonly context: IExecuteFunctions) {
		this.gates = gatesBefore(context).sort(byNearness);
	}

	of(itemIndex: number): Lineage {
		const proxy = this.context.getWorkflowDataProxy(itemIndex);
		const words = this.gates.flatMap((gate) => {
			const item = pairedItem(this.context, () => (proxy['$'] as (name: string) => { item: INodeExecutionData })(gate.name).item);
			const word = wordOf(gate, item);
			return word ? [{ gate, word }] : [];
		});
		// An event that one gate did not claim may still be claimed by one before it.
		const nearest = words.find(({ word: { type } }) => type !== 'unclaimed' && type !== 'lost');
		const [unclaimed, lost] = ['unclaimed', 'lost'].map((type) => words.find(({ word }) => word.type === type)?.word);
		if (!nearest) return unclaimed ?? lost ?? { type: 'no_gate' };
		const rivals = words.filter(({ gate, word }) => word.type === 'claimed' && areSideBySide(gate, nearest.gate));
		return rivals.length > 0 ? { type: 'ambiguous', gate: nearest.gate.name } : nearest.word;
	}
}

/** A node of ours that hands out claims. */
interface Gate {
	readonly name: string;
	/** Where it puts the details; `null` where the name is computed. */
	readonly resultField: string | null;
	/** Nodes from here to there. */
	readonly distance: number;
	/** Names of the nodes before it. */
	readonly before: ReadonlySet<string>;
}

function gatesBefore(context: IExecuteFunctions): Gate[] {
	const { name, type } = context.getNode();
	const gateType = type.replace(/Tool$/, '');
	const nodes = context.getParentNodes(name, { includeNodeParameters: true }).filter((node) => {
		if (node.disabled || node.name === name) return false;
		if (node.type === `${gateType}Trigger`) return true;
		return node.type === gateType && HANDING_OUT.has((node.parameters?.['operation'] as string | undefined) ?? 'claim');
	});
	return nodes.map(({ name: gate, parameters }): Gate => {
		const { resultField } = (parameters?.['options'] ?? {}) as { resultField?: string };
		return {
			name: gate,
			resultField: resultField?.startsWith('=') ? null : resultField || 'idempotency',
			// With one gate there is nothing to compare.
			distance: nodes.length > 1 ? distanceTo(context, name, gate) : 0,
			before: new Set(nodes.length > 1 ? context.getParentNodes(gate).map((node) => node.name) : []),
		};
	});
}

const HANDING_OUT = new Set(['claim', 'recover', 'reopen']);

/** A gate that stands before another one is farther away, however short some other way to it is. */
function byNearness(a: Gate, b: Gate): number {
	const aFirst = b.before.has(a.name);
	const bFirst = a.before.has(b.name);
	// In a loop each stands before the other.
	if (aFirst !== bFirst) return aFirst ? 1 : -1;
	return a.distance - b.distance;
}

/** On two branches that were merged. */
function areSideBySide(a: Gate, b: Gate): boolean {
	return a.name !== b.name && !a.before.has(b.name) && !b.before.has(a.name);
}

function distanceTo(context: IExecuteFunctions, from: string, to: string): number {
	for (let depth = 1; depth <= LONGEST_WAY; depth++) {
		if (context.getParentNodes(from, { depth }).some(({ name }) => name === to)) return depth;
	}
	return LONGEST_WAY;
}

const LONGEST_WAY = 100;

export interface Lost {
	readonly lostAt: string;
}

function isLost(item: INodeExecutionData | Lost): item is Lost {
	return typeof item['lostAt'] === 'string';
}

/** `null`: the present item does not stem from this gate. */
export function pairedItem(
	context: IExecuteFunctions,
	get: () => INodeExecutionData | undefined,
): INodeExecutionData | Lost | 'ambiguous' | null {
	try {
		return get() ?? null;
	} catch (thrown) {
		const { type, nodeCause } = ((thrown as { context?: IDataObject }).context ?? {}) as { type?: string; nodeCause?: string };
		if (type === 'paired_item_multiple_matches') return 'ambiguous';
		if (type !== 'paired_item_no_info' || nodeCause === undefined) return null;
		// A trigger's items stem from nothing: the way back ended there without having met the gate.
		return context.getParentNodes(nodeCause).length === 0 ? null : { lostAt: nodeCause };
	}
}

function wordOf(gate: Gate, item: ReturnType<typeof pairedItem>): Lineage | null {
	if (item === null) return null;
	if (item === 'ambiguous') return { type: 'ambiguous', gate: gate.name };
	if (isLost(item)) return { type: 'lost', at: item.lostAt };
	const own = gate.resultField === null ? detailsIn(item.json).at(-1) : item.json[gate.resultField];
	const details = (typeof own === 'object' ? own : null) as IDataObject | null;
	const claimToken = details?.['claimToken'];
	if (typeof claimToken === 'string') return { type: 'claimed', claimToken };
	return { type: item.json['claimed'] === true ? 'let_through' : 'unclaimed', details };
}
