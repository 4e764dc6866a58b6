import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { ClaimMessage } from '../../../src/index';
import type { Run } from '../run';

/**
 * How many messages of each topic the earlier runs of the node in this execution had for an event, and notes those of this
 * run for the next ones. In a loop each round is a run, and its message is another one.
 *
 * Counted for each event: an event that is handled again may come in another round, or alone, and its messages must have
 * the same keys as the first time. n8n keeps the notes over the tries of a run and takes them into "Retry", so a run that
 * is tried again begins where it began before.
 */
export function earlierRuns(context: IExecuteFunctions, run: Run): (event: string, messages: readonly ClaimMessage[]) => ReadonlyMap<string, number> {
	// Each try of a tool's call counts as a run of its own.
	if (run.asTool) return () => new Map();
	const { $runIndex } = context.getWorkflowDataProxy(0);
	const notes = notesOf(context.getContext('node'));

	return (event, messages) => {
		const kept = notes[event];
		const before = kept === undefined ? {} : kept.run === $runIndex ? kept.before : kept.after;
		const after = new Map(Object.entries(before));
		for (const { topic } of messages) after.set(topic, (after.get(topic) ?? 0) + 1);
		notes[event] = { run: $runIndex as number, before, after: Object.fromEntries(after) };
		return new Map(Object.entries(before));
	};
}

/** What is known of an event: messages of each topic, when the last run with it began and when it had asked for its own. */
interface Note {
	readonly run: number;
	readonly before: Readonly<Record<string, number>>;
	readonly after: Readonly<Record<string, number>>;
}

function notesOf(memory: IDataObject): Record<string, Note> {
	memory['messages'] ??= {};
	return memory['messages'] as unknown as Record<string, Note>;
}
