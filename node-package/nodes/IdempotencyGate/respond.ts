import type { IExecuteFunctions } from 'n8n-workflow';
import type { Judged } from './judge';
import { outputItem, responseTo } from './outputItem';
import type { Run } from './run';

/** Answers the sender, if the user wants it and nothing was claimed: what is claimed the workflow answers itself. */
export async function respond(context: IExecuteFunctions, run: Run, judged: readonly Judged[]): Promise<void> {
	if (run.respond === 'never') return;
	const placed = judged.map((one) => ({ one, output: outputItem(run, one).output }));
	if (placed.some(({ output }) => output === 'claimed')) return;
	const answered = run.respond === 'rejected' ? ['rejected'] : ['duplicate', 'rejected'];
	const first = placed.find(({ output }) => answered.includes(output));
	if (!first) return;
	try {
		await context.sendResponse({ ...responseTo(first.one) });
	} catch (cause) {
		// The item still leaves by its output.
		context.logger.warn('The gate could not answer the webhook', { cause: String(cause) });
	}
}
