import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { answerItems } from './events/answers';
import type { Run } from './run';

/**
 * One run of an operation that hands out items of its own, whatever it was given. What is handed out leaves by the first
 * of two outputs; what cannot be done leaves by the last, as everywhere, since by the first one work goes on.
 */
export async function handOut(
	context: IExecuteFunctions,
	ask: (run: Run) => Promise<[handedOut: INodeExecutionData[], others: INodeExecutionData[]]>,
): Promise<INodeExecutionData[][]> {
	let outputs: INodeExecutionData[][] | null = null;
	const problems = await answerItems(context, 2, async (run) => {
		const placed = (await ask(run)).map((items) => items.map((item) => ({ ...item, pairedItem: { item: 0 } })));
		// An agent sees output 0 only.
		outputs = run.asTool ? [placed.flat()] : placed;
		return [];
	});
	return outputs ?? problems;
}
