import type { IExecuteFunctions } from 'n8n-workflow';
import type { Judged } from './judge';
import { outputItem } from './outputItem';
import type { Run } from './run';

/** Answers the sender, if the user wants it and nothing was claimed: what is claimed the workflow answers itself. */
export async function respond(context: IExecuteFunctions, run: Run, judged: readonly Judged[]): Promise<void> {
	if (run.respond === 'never') return;
	const placed = judged.map((one) => ({ one, ...outputItem(run, one) }));
	if (placed.some(({ output }) => output === 'claimed')) return;
	const wanted = run.respond === 'rejected' ? ['rejected'] : ['duplicate', 'rejected'];
	const response = placed.find(({ output }) => wanted.includes(output))?.one.admission?.decision.response;
	if (response) await context.sendResponse({ ...response });
}
