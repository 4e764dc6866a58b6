import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { asNodeError, asProblem, type Problem } from '../problems';
import { type Run, readRun } from '../run';
import { inputOf, neutraliseAlwaysOutputData, settingsProblem } from '../traps';

/** What became of one event that an item named. An item that names several has several answers. */
export interface Answer {
	readonly itemIndex: number;
	/** Go into the item, under the name that the user chose. */
	readonly details: IDataObject;
	/** Stops the workflow, unless the user wants to go on. */
	readonly problem: Problem | null;
	/** Output by which the item leaves. Default 0; with a problem the last: by the first one work goes on. */
	readonly output?: number | 'last';
	/** For a person who looks at the execution. */
	readonly hints?: readonly string[];
	/** What the operation adds to the item beside the details. */
	readonly fields?: IDataObject;
	readonly binary?: INodeExecutionData['binary'];
	/** Something is to be done now, and nobody will be told so again: a throw would lose it. */
	readonly handsOut?: boolean;
}

/** One run of an operation that passes its items on, each with what became of its event. */
export async function answerItems(
	context: IExecuteFunctions,
	outputs: number,
	answer: (run: Run, items: readonly INodeExecutionData[]) => Promise<Answer[]>,
	own: Partial<Run> = {},
): Promise<INodeExecutionData[][]> {
	const run: Run = { ...readRun(context), oneOutput: outputs === 1, ...own };
	const items = inputOf(context, run);
	const trap = settingsProblem(context, run);
	const all = (problem: Problem) => items.map((_, itemIndex) => failed(itemIndex, problem));
	const answers = trap ? all(trap) : await answer(run, items).catch((thrown: unknown) => all(asProblem(thrown)));

	stopOnProblem(context, answers, items.length);
	neutraliseAlwaysOutputData(context, run);
	addHints(context, answers);
	return place(context, run, outputs, items, answers);
}

/**
 * Throws, unless the user wants to go on. What was done for other items is done; a retry of the node, or of the
 * execution, finds it so and gives the same answer (`already`, a lease begun anew). Not where something was handed out,
 * see `Answer.handsOut`: then the others leave with their problems in the items.
 */
function stopOnProblem(context: IExecuteFunctions, answers: readonly Answer[], items: number): void {
	const first = answers.find(({ problem }) => problem !== null);
	if (!first?.problem || context.continueOnFail()) return;
	if (answers.some(({ handsOut }) => handsOut)) return;
	throw asNodeError(first.problem, context.getNode(), first.itemIndex, items);
}

/** What cannot be done for an item. */
export function failed(itemIndex: number, problem: Problem, details: IDataObject = {}): Answer {
	const outcome = problem.reason.startsWith('store_') ? 'unavailable' : 'rejected';
	return { itemIndex, details: { outcome, ...details, reason: problem.reason, message: problem.inItem }, problem };
}

function addHints(context: IExecuteFunctions, answers: readonly Answer[]): void {
	const hints = new Set(
		answers.flatMap(({ hints: own = [], problem }) => [
			...own,
			...(problem ? [`${problem.message}. ${problem.description}`] : []),
		]),
	);
	context.addExecutionHints(...[...hints].map((message) => ({ message, location: 'outputPane' as const })));
}

function place(
	context: IExecuteFunctions,
	run: Run,
	outputs: number,
	items: readonly INodeExecutionData[],
	answers: readonly Answer[],
): INodeExecutionData[][] {
	const placed: INodeExecutionData[][] = Array.from({ length: run.asTool ? 1 : outputs }, () => []);
	const toErrorOutput = context.getNode().onError === 'continueErrorOutput' && !run.asTool;
	for (const answer of answers) {
		const { itemIndex, problem } = answer;
		const item = items[itemIndex] ?? { json: {} };
		const leaving = problem && toErrorOutput ? errorItem(run, answer, problem) : passedOn(run, item, answer);
		const { output = 0 } = answer;
		const index = problem || output === 'last' ? outputs - 1 : output;
		placed[run.asTool ? 0 : index]?.push({ ...leaving, pairedItem: { item: itemIndex } });
	}
	return placed;
}

/** The item with the details merged into those that the gate has put there. */
function passedOn(run: Run, item: INodeExecutionData, { details, fields, binary }: Answer): INodeExecutionData {
	// An error of the node before: with it n8n would move the item to the error output.
	const { json, error: _, ...rest } = item;
	return {
		...rest,
		...(binary && { binary: { ...rest.binary, ...binary } }),
		json: {
			...json,
			...fields,
			...(run.asTool && { message: details['message'] }),
			[run.resultField]: { ...earlierDetails(json[run.resultField]), ...details },
		},
	};
}

/** Why an operation before this one could not do its work is not said of this one. */
function earlierDetails(value: unknown): IDataObject {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
	const { reason: _, help: __, response: ___, ...kept } = value as IDataObject;
	return kept;
}

/** n8n moves an item with exactly these keys to the error output and merges the input into it. */
function errorItem(run: Run, { details }: Answer, problem: Problem): INodeExecutionData {
	return { json: { error: problem.inItem, message: problem.inItem, details: { [run.resultField]: details } } };
}
