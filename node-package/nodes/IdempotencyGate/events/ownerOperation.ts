import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { type Receipt, type State, type Store, StoreError } from '../../../src/index';
import { openStore } from '../connect/store';
import { Parameters } from '../parameters';
import { asProblem, type Problem } from '../problems';
import type { Run } from '../run';
import { type Answer, answerItems, failed } from './answers';
import { keyDetails } from './details';
import { eventProblems } from './eventProblems';
import { Lineages } from './lineage';
import { ownedBy, sparedByTest } from './owned';
import { type Asking, readTarget, type Target } from './selection';

/** Something that the owner of a claim does with it. */
export interface OwnerOperation<Settings, Reply extends OwnerReply> {
	/** Number of the node's outputs. */
	readonly outputs: number;
	/** What the parameters of one item ask for. Throws a `Problem`. */
	read(parameters: Parameters, context: IExecuteFunctions): Settings;
	/** Of several items that belong to one event: what is asked of it. Default: what the first one asks for. */
	merge?(earlier: Settings, later: Settings): Settings;
	/** One call of the store for all. One reply each, in their order. */
	carryOut(store: Store, asks: ReadonlyArray<Ask<Settings>>, context: IExecuteFunctions, run: Run): Promise<Reply[]>;
	/** What the item says of a reply other than `fenced_out`. */
	tell(reply: Reply, ask: Ask<Settings>): Told;
}

export interface OwnerReply {
	readonly verdict: string;
	readonly state: State | null;
}

export interface Ask<Settings> extends Receipt {
	readonly settings: Settings;
}

export interface Told {
	readonly outcome: string;
	readonly message: string;
	/** More of the details. */
	readonly details?: IDataObject;
	readonly output?: number;
	readonly hints?: readonly string[];
	readonly problem?: Problem;
	/** As in `Answer`. Not where a retry gives the same answer again, which most operations do (`already`). */
	readonly handsOut?: boolean;
}

/** The node's operation: finds the claim of each item, and does it for all of them at once. */
export function ownerOperation<Settings, Reply extends OwnerReply>(operation: OwnerOperation<Settings, Reply>) {
	return async (context: IExecuteFunctions): Promise<INodeExecutionData[][]> => {
		return await answerItems(context, operation.outputs, async (run, items) => {
			const lineages = new Lineages(context);
			const read = readItems({ context, run, lineages, asOwner: true }, items, operation);
			// What stops the workflow stops it before anything is changed.
			const stopped = read.filter((one) => one instanceof Stopped);
			if (stopped.length > 0 && !context.continueOnFail()) return stopped.map(({ answer }) => answer);
			return await carryOut({ context, run, lineages }, operation, read);
		});
	};
}

interface Ready<Settings> {
	readonly itemIndex: number;
	readonly target: Target;
	readonly settings: Settings;
}

/** An item whose parameters cannot be read. */
class Stopped {
	constructor(readonly answer: Answer) {}
}

function readItems<Settings, Reply extends OwnerReply>(
	asking: Asking,
	items: readonly INodeExecutionData[],
	operation: OwnerOperation<Settings, Reply>,
): Array<Ready<Settings> | Stopped> {
	const { context } = asking;
	return items.map((item, itemIndex) => {
		try {
			const parameters = new Parameters(context, itemIndex);
			const target = readTarget(asking, parameters, item, itemIndex);
			return { itemIndex, target, settings: operation.read(parameters, context) };
		} catch (thrown) {
			return new Stopped(failed(itemIndex, asProblem(thrown)));
		}
	});
}

async function carryOut<Settings, Reply extends OwnerReply>(
	{ context, run, lineages }: Omit<Asking, 'asOwner'>,
	operation: OwnerOperation<Settings, Reply>,
	items: ReadonlyArray<Ready<Settings> | Stopped>,
): Promise<Answer[]> {
	const store = await openStore(context);
	const found = await Promise.all(
		items.map(async (one) => {
			if (one instanceof Stopped) return { claims: [], answers: [one.answer], itemIndex: one.answer.itemIndex };
			const { itemIndex, target, settings } = one;
			const { claims, answers } = sparedByTest(await ownedBy(store, itemIndex, target), itemIndex, run, lineages);
			return { claims: claims.map((claim): Ask<Settings> => ({ ...claim, settings })), answers, itemIndex };
		}),
	);
	// Several items may belong to one event; the store is asked once, and all of them have the answer.
	const asks = new Map<string, Ask<Settings>>();
	for (const ask of found.flatMap(({ claims }) => claims)) {
		const earlier = asks.get(nameOf(ask));
		const settings = earlier && (operation.merge?.(earlier.settings, ask.settings) ?? earlier.settings);
		asks.set(nameOf(ask), earlier ? { ...earlier, settings: settings as Settings } : ask);
	}
	const answers = await answersOf([...asks.values()], operation, store, context, run);
	const byName = new Map([...asks.keys()].map((name, at) => [name, answers[at] as AnyItems]));

	return found.flatMap(({ claims, answers: others, itemIndex }) => {
		const { [itemIndex]: one } = items;
		const gateBefore = one instanceof Stopped || one?.target.type !== 'receipt' ? null : (one.target.gateBefore ?? null);
		const own = claims.map((ask) => withGateBefore(byName.get(nameOf(ask)) as AnyItems, gateBefore));
		return [...own.map((answer): Answer => ({ ...answer, itemIndex })), ...others];
	});
}

/** Where nothing was left to be done, the item may be meant to end the claim of another gate. */
function withGateBefore(answer: AnyItems, gate: string | null): AnyItems {
	if (gate === null || answer.details['verdict'] !== 'already') return answer;
	const hint = `The nearest gate's event had ended before, and '${gate}' has claimed one for the item too, which may still be open. If it is meant, set 'Event' to By Claim Token with the token of '${gate}'`;
	return { ...answer, details: { ...answer.details, gateBefore: gate }, hints: [...(answer.hints ?? []), hint] };
}

/** An answer before it is known whose. */
type AnyItems = Omit<Answer, 'itemIndex'>;

async function answersOf<Settings, Reply extends OwnerReply>(
	asks: ReadonlyArray<Ask<Settings>>,
	operation: OwnerOperation<Settings, Reply>,
	store: Store,
	context: IExecuteFunctions,
	run: Run,
): Promise<AnyItems[]> {
	if (asks.length === 0) return [];
	let replies: Reply[];
	try {
		replies = await operation.carryOut(store, asks, context, run);
	} catch (thrown) {
		const problem = asProblem(thrown);
		return asks.map((ask) => failed(0, problem, keyDetails(ask.key)));
	}
	return await Promise.all(
		asks.map(async (ask, at) => {
			const reply = replies[at] as Reply;
			if (reply.verdict === 'fenced_out') return await fencedOut(store, ask);
			return answerOf(ask, reply.state, operation.tell(reply, ask));
		}),
	);
}

function answerOf(ask: Receipt, state: State | null, told: Told): AnyItems {
	const { outcome, message, details, output, hints, problem, handsOut } = told;
	const reason = problem && { reason: problem.reason };
	return {
		details: { ...keyDetails(ask.key), fence: ask.fence, outcome, ...reason, message, status: state, ...details },
		problem: problem ?? null,
		...(output !== undefined && { output }),
		...(hints && { hints }),
		...(handsOut && { handsOut }),
	};
}

/** Loud: whoever lost its claim must not take its work for done. */
async function fencedOut(store: Store, { key, owner }: Receipt): Promise<AnyItems> {
	const record = await store.find(key).catch((error: unknown) => {
		// Who holds it now is for people; that it is lost is known.
		if (error instanceof StoreError) return undefined;
		throw error;
	});
	const problem = eventProblems.noLongerHeld(record, owner);
	return failed(0, problem, { ...keyDetails(key), outcome: 'fenced_out', ...(record && { status: record.state }) });
}

function nameOf({ key, owner, fence }: Receipt): string {
	return JSON.stringify([key.scope, key.provider, key.eventId, owner, fence]);
}
