import type { IExecuteFunctions } from 'n8n-workflow';
import { executionIdIn } from './execution';
import type { Judged } from './judge';
import { isDuplicateInTest } from './outputItem';
import type { Run } from './run';

/** What a person who looks at the execution should know. Each thing once, however many items it is about. */
export function addHints(context: IExecuteFunctions, run: Run, judged: readonly Judged[]): void {
	const messages = new Set([...settings(context), ...judged.flatMap((one) => aboutItem(run, one, judged.length))]);
	context.addExecutionHints(...[...messages].map((message) => ({ message, location: 'outputPane' as const })));
}

function settings(context: IExecuteFunctions): string[] {
	if (context.getNode().executeOnce !== true) return [];
	return ["'Execute Once' is on: when several events come in together, this node stops. Turn it off in the node's Settings"];
}

function aboutItem(run: Run, judged: Judged, items: number): string[] {
	const { admission, problem, itemIndex } = judged;
	const which = items > 1 ? ` [item ${itemIndex}]` : '';
	if (problem) return [`${problem.message}${which}. ${problem.description}`];
	if (!admission) return [];
	return [
		...(admission.refusal?.code === 'raw_body_missing' ? [rawBodyMissing(run)] : []),
		...(isDuplicateInTest(run, admission) ? [duplicateInTest(executionIdIn(admission.claim?.claimedBy.executionId ?? null))] : []),
		...(judged.lateInProduction ? [late(run, admission.signature?.signedAtMs ?? run.receivedAtMs)] : []),
	];
}

function rawBodyMissing({ test }: Run): string {
	const how =
		"Open the Webhook node, add the option 'Raw Body' and turn it on. 'HTTP Method' must be POST. n8n keeps no raw body of a multipart form";
	const pinned = test === 'none' ? '' : '. Pinned data has a raw body only if it was pinned with one';
	return `The raw body of the request is missing. ${how}${pinned}`;
}

function duplicateInTest(executionId: string | null): string {
	const by = executionId === null ? 'by an earlier test' : `by execution ${executionId}`;
	return `In production this event would have gone to 'Duplicate': it was claimed ${by}. To try that branch, set 'Test Executions' to 'Separate, Real Routing'`;
}

function late(run: Run, signedAtMs: number): string {
	const ago = Math.abs(run.receivedAtMs - signedAtMs);
	const units: Array<[number, string]> = [[86_400_000, 'days'], [3_600_000, 'hours'], [60_000, 'minutes'], [1000, 'seconds']];
	const [ms, unit] = units.find(([size]) => ago >= 2 * size) ?? [1000, 'seconds'];
	const age = `${Math.round(ago / ms)} ${unit}`;
	const when = signedAtMs < run.receivedAtMs ? `${age} old` : `${age} ahead`;
	return `The timestamp of the request is ${when}. It was accepted because this is a test. In production it would go to 'Rejected'`;
}
