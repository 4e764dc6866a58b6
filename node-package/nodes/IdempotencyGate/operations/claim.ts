import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { OUTPUTS } from '../description/outputs';
import { addHints } from '../executionHints';
import { judge, type Judged, NOTHING } from '../judge';
import { errorItem, outputItem } from '../outputItem';
import { asNodeError, asProblem, type Problem, problems } from '../problems';
import { respond } from '../respond';
import { type Run, readRun } from '../run';
import { gateBefore } from '../secondGate';
import { inputOf, neutraliseAlwaysOutputData, settingsProblem } from '../traps';

/** Verifies each delivery and lets only the first one of its event continue. */
export async function claim(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const run = readRun(context);
	const items = inputOf(context, run);
	const judged = await judgeAll(context, run, items).catch((thrown: unknown) => {
		// A mistake of ours must not open the gate: from a node that throws, n8n may send the input to Claimed.
		return allWith(asProblem(thrown), items);
	});

	stopOnProblem(context, run, judged);
	neutraliseAlwaysOutputData(context, run);
	addHints(context, run, judged);
	await respond(context, run, judged);
	return place(context, run, judged);
}

async function judgeAll(context: IExecuteFunctions, run: Run, items: readonly INodeExecutionData[]): Promise<Judged[]> {
	const trap = settingsProblem(context, run);
	if (trap) return allWith(trap, items);
	const judged = await judge(context, run, items);
	return judged.map((one) => {
		const other = gateBefore(context, run, one);
		return other === null ? one : { ...one, problem: problems.secondGate(other) };
	});
}

function allWith(problem: Problem, items: readonly INodeExecutionData[]): Judged[] {
	return items.map((item, itemIndex) => ({ item, itemIndex, ...NOTHING, problem }));
}

/**
 * Throws, unless the user wants to go on. Also not once something of this run is claimed: the throw would take the
 * claimed items down with it, and their events are not delivered again. The others then go to Rejected.
 */
function stopOnProblem(context: IExecuteFunctions, run: Run, judged: readonly Judged[]): void {
	const first = judged.find(({ problem }) => problem !== null);
	if (!first?.problem || context.continueOnFail() || run.observe) return;
	if (judged.some(({ admission }) => admission?.decision.claimed)) return;
	throw asNodeError(first.problem, context.getNode(), first.itemIndex, judged.length);
}

/** Every item leaves by exactly one output. */
function place(context: IExecuteFunctions, run: Run, judged: readonly Judged[]): INodeExecutionData[][] {
	const outputs: INodeExecutionData[][] = run.oneOutput ? [[]] : OUTPUTS.map(() => []);
	const toErrorOutput = context.getNode().onError === 'continueErrorOutput' && !run.asTool && !run.observe;
	for (const one of judged) {
		const { output, item } = outputItem(run, one);
		const leaving = one.problem && toErrorOutput ? errorItem(run, { message: one.problem.inItem }, one) : item;
		outputs[run.oneOutput ? 0 : OUTPUTS.indexOf(output)]?.push(leaving);
	}
	return outputs;
}
