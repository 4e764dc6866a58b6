import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Judged } from './judge';
import type { Run } from './run';

/**
 * The name of a gate before this one that claimed the same event in this execution; `null` where there is none. Two
 * gates in a row with one scope would send every event to Duplicate, which looks like a sender gone mad.
 */
export function gateBefore(context: IExecuteFunctions, run: Run, { admission }: Judged): string | null {
	const { claim, key } = admission ?? {};
	if (!claim || !key || run.executionMark === null || claim.claimedBy.executionId !== run.executionMark) return null;
	if (claim.matchedOn !== 'event_id') return null;

	const { name, type } = context.getNode();
	const { $items } = context.getWorkflowDataProxy(0);
	const before = context.getParentNodes(name).filter((node) => node.type === type && node.name !== name);
	const claimer = before.find((node) => {
		try {
			return ($items(node.name, 0) as INodeExecutionData[]).some(({ json }) => holdsKey(json, key.idempotencyKey));
		} catch {
			// It did not run in this execution.
			return false;
		}
	});
	return claimer?.name ?? null;
}

/** The field with the details may have any name. */
function holdsKey(json: INodeExecutionData['json'], idempotencyKey: string): boolean {
	return Object.values(json).some((value) => {
		return typeof value === 'object' && value !== null && 'idempotencyKey' in value && value['idempotencyKey'] === idempotencyKey;
	});
}
