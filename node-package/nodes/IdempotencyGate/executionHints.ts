import type { IExecuteFunctions } from 'n8n-workflow';
import { executionIdIn } from './execution';
import type { Judged } from './judge';
import { enforcedOutput, isDuplicateInTest } from './outputItem';
import type { Run } from './run';

/** What a person who looks at the execution should know. Each thing once, however many items it is about. */
export function addHints(context: IExecuteFunctions, run: Run, judged: readonly Judged[]): void {
	const aboutAll = [...settings(context), ...neverCompleted(context, run, judged)];
	const messages = new Set([...aboutAll, ...judged.flatMap((one) => aboutItem(run, one, judged.length))]);
	context.addExecutionHints(...[...messages].map((message) => ({ message, location: 'outputPane' as const })));
}

function settings(context: IExecuteFunctions): string[] {
	if (context.getNode().executeOnce !== true) return [];
	return ["'Execute Once' is on: when several events come in together, this node stops. Turn it off in the node's Settings"];
}

/** For those who have just put the gate into a workflow: what is interrupted now is lost. */
function neverCompleted(context: IExecuteFunctions, { test }: Run, judged: readonly Judged[]): string[] {
	const { unfinishedEvents = 'automatic' } = (context.getNode().parameters['options'] ?? {}) as { unfinishedEvents?: string };
	if (test === 'none' || unfinishedEvents !== 'automatic') return [];
	const done = judged.some(({ admission, rules }) => admission?.decision.claimed && rules?.unfinished === 'complete_on_claim');
	if (!done) return [];
	return ["An event counts as done when it is claimed. Add the operation 'Complete' at the end of the workflow to have interrupted events handled again"];
}

function aboutItem(run: Run, judged: Judged, items: number): string[] {
	const { admission, problem, itemIndex, tooLargeToSave } = judged;
	const which = items > 1 ? ` [item ${itemIndex}]` : '';
	if (run.observe && enforcedOutput(judged) !== 'claimed') return [observed(judged, which)];
	if (problem) return [`${problem.message}${which}. ${problem.description}`];
	if (!admission) return [];
	return [
		...(admission.refusal?.code === 'raw_body_missing' ? [rawBodyMissing(run)] : []),
		...(isDuplicateInTest(run, admission) ? [duplicateInTest(executionIdIn(admission.claim?.claimedBy.executionId ?? null))] : []),
		...(admission.decision.claimed && tooLargeToSave ? [notSaved(which)] : []),
		...(judged.lateInProduction ? [late(run, admission.signature?.signedAtMs ?? run.receivedAtMs)] : []),
	];
}

function observed(judged: Judged, which: string): string {
	const { admission, problem } = judged;
	const output = enforcedOutput(judged) === 'duplicate' ? 'Duplicate' : 'Rejected';
	const why = problem?.message ?? admission?.refusal?.message ?? admission?.decision.message ?? '';
	return `With 'Mode' set to Enforce this event would have gone to '${output}'${which}: ${why}`;
}

function notSaved(which: string): string {
	return `The body is too large to be saved${which}. If its handling stops, the event is handed out again without it. Raise 'Saved Payload Size Limit (MB)' to save it`;
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
