import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { areSideBySide, byNearness, detailsOf, type Gate, gatesBefore, tokensOf } from './gates';

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
	/** The gate of each claim that was handed out before this node in this execution. Made when it is needed. */
	private handedOut: ReadonlyMap<string, Gate> | undefined;

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

	/** The gate before this node that has handed out this claim, to whichever item; `null`: it came from elsewhere. */
	gateOf(claimToken: string): Gate | null {
		this.handedOut ??= new Map(this.gates.flatMap((gate) => tokensOf(this.context, gate).map((token) => [token, gate] as const)));
		return this.handedOut.get(claimToken) ?? null;
	}
}

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
	const details = detailsOf(gate, item);
	const claimToken = details?.['claimToken'];
	if (typeof claimToken === 'string') return { type: 'claimed', claimToken };
	return { type: item.json['claimed'] === true ? 'let_through' : 'unclaimed', details };
}
