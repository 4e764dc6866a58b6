/**
 * The name under which a claim remembers the execution that holds it: n8n's number and the workflow's id. The number
 * alone would not do, since every n8n counts from 1 and two of them may share a store.
 */
export function executionMark(executionId: string, workflowId: string): string {
	return `${executionId}@${workflowId}`;
}

/** The number, for people; a name that is not ours stays as it is. */
export function executionIdIn(mark: string | null): string | null {
	return mark === null ? null : (/^(\d+)@/.exec(mark)?.[1] ?? mark);
}
