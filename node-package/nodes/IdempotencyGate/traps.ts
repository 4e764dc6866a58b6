import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { type Problem, problems } from './problems';
import type { Run } from './run';

/**
 * Settings of n8n that would let items past the gate or lose them:
 *
 * - Always Output Data puts an empty item on output 0, which is Claimed, whenever nothing was claimed;
 * - Execute Once drops all items but the first.
 */
export function settingsProblem(context: IExecuteFunctions, run: Run): Problem | null {
	if (run.problem) return run.problem;
	if (leaksEmptyItems(context, run)) return problems.alwaysOutputData();
	const items = inputOf(context, run).length;
	if (context.getNode().executeOnce === true && items > 1) return problems.executeOnce(items);
	return null;
}

/** All items, also those that Execute Once keeps from the node. */
export function inputOf(context: IExecuteFunctions, run: Run): INodeExecutionData[] {
	const shown = context.getInputData();
	// What the engine executes around a tool is its agent.
	if (run.asTool || context.getNode().executeOnce !== true) return shown;
	return context.getExecuteData().data['main']?.[0] ?? shown;
}

/**
 * Turns Always Output Data off for this run. Needed where the node must return instead of throwing: the engine looks at
 * the setting after that, and this is the object it looks at.
 */
export function neutraliseAlwaysOutputData(context: IExecuteFunctions, run: Run): void {
	if (leaksEmptyItems(context, run)) context.getExecuteData().node.alwaysOutputData = false;
}

function leaksEmptyItems(context: IExecuteFunctions, run: Run): boolean {
	return context.getNode().alwaysOutputData === true && !run.oneOutput;
}
