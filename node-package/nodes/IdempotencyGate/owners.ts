import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { Core } from '../../src/index';
import type { Run } from './run';

/**
 * The owner tokens of a run's items, chosen before the first try. Retry On Fail finds the same ones again, and so its
 * claim is re-entrant: an answer that was lost is learned by asking again.
 *
 * n8n keeps the node's context over the tries of one run, but also over later runs in a loop, and it copies it into the
 * executions that "Retry" makes of a failed one. So the tokens carry the mark of the run they are for: process,
 * execution and run index. Two retries of one execution must not both be let through.
 */
export function ownersOf(context: IExecuteFunctions, core: Core, run: Run, items: number): string[] {
	const fresh = () => Array.from({ length: items }, () => core.newToken());
	// An agent may call the tool twice at once, and each try of a call counts as a run of its own.
	if (run.asTool) return fresh();

	processMark ??= core.newToken();
	const { $runIndex } = context.getWorkflowDataProxy(0);
	const mark = [processMark, run.executionId, $runIndex].join(':');
	const memory: IDataObject = context.getContext('node');
	const kept = memory['gate'] as { mark: string; owners: string[] } | undefined;
	if (kept?.mark === mark && kept.owners.length === items) return kept.owners;

	const owners = fresh();
	memory['gate'] = { mark, owners };
	return owners;
}

/** An execution that another process runs again, after a crash, is not the same run. */
let processMark: string | undefined;
