import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { loadCore } from '../../src/index';
import type { Run } from './run';

/**
 * What a run of the node notes before its first try, for the tries that follow.
 *
 * n8n keeps the node's context over the tries of one run, but also over later runs in a loop, and it copies it into the
 * executions that "Retry" makes of a failed one. So the notes carry the mark of the run they are for: process, execution
 * and run index. Two retries of one execution must not share what only one of them may do.
 */
export function runMemory(context: IExecuteFunctions, run: Run): IDataObject {
	// An agent may call the tool twice at once, and each try of a call counts as a run of its own.
	if (run.asTool) return {};

	processMark ??= loadCore().newToken();
	const { $runIndex } = context.getWorkflowDataProxy(0);
	const mark = [processMark, run.executionId, $runIndex].join(':');
	const memory: IDataObject = context.getContext('node');
	const kept = memory['gate'] as { mark: string; notes: IDataObject } | undefined;
	if (kept?.mark === mark) return kept.notes;

	const notes: IDataObject = {};
	memory['gate'] = { mark, notes };
	return notes;
}

/** An execution that another process runs again, after a crash, is not the same run. */
let processMark: string | undefined;
