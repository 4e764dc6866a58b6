import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { decodeReceipt, type Receipt } from '../../../src/index';
import { detailsIn, keyIn } from './details';
import { areSideBySide, byNearness, completesBefore, detailsOf, type Gate, gatesBefore, tokensOf } from './gates';

/** What the nearest gate before this node did with the item that the present one stems from. */
export type Lineage =
	| Claimed
	/** Sent on without a claim (a duplicate in a test, anything in Observe mode), or a duplicate, or refused. */
	| { readonly type: 'let_through' | 'unclaimed'; readonly details: IDataObject | null }
	| { readonly type: 'no_gate' }
	/** A node in between does not say which of its items stems from which. */
	| { readonly type: 'lost'; readonly at: string }
	/** The item stems from several items of this gate, or from two gates side by side. */
	| { readonly type: 'ambiguous'; readonly gate: string };

interface Claimed {
	readonly type: 'claimed';
	readonly claimToken: string;
	/** Claims of gates that are nearer, which a Complete between them and this node has ended. */
	readonly endedBefore: readonly string[];
	/** Name of a gate farther up that has claimed an event for the item too. */
	readonly gateBefore: string | null;
}

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
		const words = this.gates.flatMap((gate) => {
			const word = wordOf(gate, this.itemOf(gate.name, itemIndex));
			return word ? [{ gate, word }] : [];
		});
		const endedBefore = this.endedBefore(words.map(({ word }) => word), itemIndex);
		const isEnded = (word: Word) => word.type === 'claimed' && endedBefore.includes(word.claimToken);
		// An event that one gate did not claim, or whose claim was ended on the way, may still be claimed by one before it.
		const said = words.filter(({ word: { type } }) => type !== 'unclaimed' && type !== 'lost');
		const nearest = said.find(({ word }) => !isEnded(word)) ?? said[0];
		const [unclaimed, lost] = ['unclaimed', 'lost'].map((type) => words.find(({ word }) => word.type === type)?.word);
		if (!nearest) return (unclaimed ?? lost ?? { type: 'no_gate' }) as Exclude<Word, { type: 'claimed' }>;
		const { gate, word } = nearest;
		const others = words.filter((other) => other.word.type === 'claimed' && other !== nearest && !isEnded(other.word));
		if (others.some((other) => areSideBySide(other.gate, gate))) return { type: 'ambiguous', gate: gate.name };
		return word.type === 'claimed' ? { ...word, endedBefore, gateBefore: others[0]?.gate.name ?? null } : word;
	}

	/** Of several claims those that a Complete before this node says it has ended, for the very item. */
	private endedBefore(words: readonly Word[], itemIndex: number): string[] {
		const tokens = words.flatMap((word) => (word.type === 'claimed' ? [word.claimToken] : []));
		if (tokens.length < 2) return [];
		const ended = completesBefore(this.context).flatMap((name) => {
			const item = this.itemOf(name, itemIndex);
			return item !== null && item !== 'ambiguous' && !isLost(item) ? detailsIn(item.json) : [];
		});
		return tokens.filter((token) => {
			const claim = decodeReceipt(token);
			return claim !== null && ended.some((details) => saysCompleted(details, claim));
		});
	}

	/** The item of a node before this one that the present item stems from. */
	private itemOf(node: string, itemIndex: number): ReturnType<typeof pairedItem> {
		const proxy = this.context.getWorkflowDataProxy(itemIndex);
		return pairedItem(this.context, () => (proxy['$'] as (name: string) => { item: INodeExecutionData })(node).item);
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

/** What one gate said of the item. */
type Word = Exclude<Lineage, Claimed> | Pick<Claimed, 'type' | 'claimToken'>;

function wordOf(gate: Gate, item: ReturnType<typeof pairedItem>): Word | null {
	if (item === null) return null;
	if (item === 'ambiguous') return { type: 'ambiguous', gate: gate.name };
	if (isLost(item)) return { type: 'lost', at: item.lostAt };
	const details = detailsOf(gate, item);
	const claimToken = details?.['claimToken'];
	if (typeof claimToken === 'string') return { type: 'claimed', claimToken };
	return { type: item.json['claimed'] === true ? 'let_through' : 'unclaimed', details };
}

/** Of this very ownership: the event may have been reopened since. */
function saysCompleted(details: IDataObject, { key, fence }: Receipt): boolean {
	const { scope, provider, eventId } = keyIn(details);
	const isSame = scope === key.scope && provider === key.provider && eventId === key.eventId;
	return isSame && details['fence'] === fence && details['outcome'] === 'completed';
}
