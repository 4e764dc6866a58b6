import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { type Admission, type Decision, encodeReceipt } from '../../src/index';
import type { OUTPUTS } from './description/outputs';
import { isoTime } from './events/details';
import { executionIdIn } from './execution';
import type { Judged } from './judge';
import type { Run } from './run';

export interface Placed {
	readonly output: (typeof OUTPUTS)[number];
	readonly item: INodeExecutionData;
}

/**
 * The item that leaves the node: the input with `claimed` and the details added. Binary data goes on to Claimed only.
 * There is no secret, no text of the database and no signature in it.
 */
export function outputItem(run: Run, judged: Judged): Placed {
	const { item, itemIndex } = judged;
	const output = outputOf(run, judged);
	const claimed = output === 'claimed';
	const details = detailsOf(run, judged, claimed);
	// An error of the node before: with it n8n would move even a claimed item to the error output.
	const { json, error: _, ...rest } = claimed ? item : withoutBinary(item);
	return {
		output,
		item: {
			...rest,
			json: {
				...json,
				claimed,
				...(run.asTool && { message: details['message'] }),
				[run.resultField]: details,
			},
			pairedItem: { item: itemIndex },
		},
	};
}

/**
 * For On Error: Continue (Using Error Output). n8n moves an item with exactly these keys to the error output and merges
 * the input into it; with anything else in it, it would stay where it is.
 */
export function errorItem(run: Run, { message }: { message: string }, judged: Judged): INodeExecutionData {
	const details = { claimed: false, [run.resultField]: detailsOf(run, judged, false) };
	return { json: { error: message, message, details }, pairedItem: { item: judged.itemIndex } };
}

function outputOf(run: Run, judged: Judged): Placed['output'] {
	if (run.observe) return 'claimed';
	const { admission, problem } = judged;
	return !problem && admission && isDuplicateInTest(run, admission) ? 'claimed' : enforcedOutput(judged);
}

/** Where the item would go if nothing were let through. */
export function enforcedOutput({ admission, problem }: Judged): Placed['output'] {
	return problem || !admission ? 'rejected' : admission.decision.output;
}

/** In a test that is always to go on, what the memory knows already goes to Claimed too. */
export function isDuplicateInTest(run: Run, { claim, decision }: Admission): boolean {
	return run.test === 'claimed' && claim !== null && !decision.claimed && decision.outcome !== 'payload_mismatch';
}

function detailsOf(run: Run, judged: Judged, claimed: boolean): IDataObject {
	const { admission, rules } = judged;
	const inTest = !run.observe && admission !== null && isDuplicateInTest(run, admission);
	const word = wordOf(judged);
	return {
		...(run.observe ? observedOf(judged, word) : word),
		...(inTest && { outcome: 'claimed', outcomeInProduction: admission.decision.outcome }),
		provider: rules?.provider ?? null,
		scope: rules?.scope ?? null,
		...(admission && keyOf(admission)),
		...(admission && claimOf(admission)),
		...(claimed && receiptOf(judged)),
		...(admission?.decision.claimed && { payloadSaved: admission.payloadSaved }),
		...(admission && signatureOf(run, admission)),
		test: run.test !== 'none',
		// A claimed event is answered by what the workflow does with it.
		...(!claimed && { response: responseTo(judged) }),
	};
}

/** A ready answer for the sender. */
export function responseTo({ admission }: Judged): Decision['response'] {
	return admission?.decision.response ?? MISCONFIGURED;
}

/** What the core answers where the gate is not set up correctly; here the core was not asked. */
const MISCONFIGURED: Decision['response'] = {
	statusCode: 500,
	headers: { 'content-type': 'application/json' },
	body: { received: false, reason: 'misconfigured' },
};

/** The answer in short. */
function wordOf(judged: Judged): IDataObject {
	const { admission, problem } = judged;
	return {
		outcome: admission?.decision.outcome ?? 'rejected',
		...reasonOf(judged),
		message: problem?.inItem ?? admission?.refusal?.message ?? admission?.decision.message ?? '',
	};
}

/** In Observe mode: everything goes on, and this is what would have happened. */
function observedOf(judged: Judged, word: IDataObject): IDataObject {
	const observed = { output: enforcedOutput(judged), ...word };
	if (observed.output === 'claimed') return { ...word, observed };
	return { outcome: 'claimed', message: 'Nothing is stopped in Observe mode', observed };
}

function reasonOf({ admission, problem }: Judged): IDataObject {
	const reason = problem?.reason ?? admission?.refusal?.code;
	if (reason === undefined) return {};
	const help = problem ? null : admission?.refusal?.help;
	return { reason, ...(help && { help }) };
}

function keyOf({ key }: Admission): IDataObject {
	if (key === null) return {};
	const { eventId, eventType, idempotencyKey, keySource, idSigned, bodyDigest } = key;
	return { eventId, eventType, idempotencyKey, keySource, idSigned, bodyHash: bodyDigest };
}

function claimOf({ claim, decision }: Admission): IDataObject {
	if (claim === null) return {};
	const shared = {
		status: claim.state,
		attempt: claim.attempt,
		stage: claim.stage,
		firstSeenAt: isoTime(claim.firstSeenAtMs),
		needsAttention: decision.needsAttention,
	};
	if (decision.claimed) {
		return { ...shared, leaseUntil: isoTime(claim.leaseUntilMs), fence: claim.fence };
	}
	return {
		...shared,
		matchedOn: claim.matchedOn,
		payloadChanged: claim.payloadChanged,
		claimedBy: { executionId: executionIdIn(claim.claimedBy.executionId), at: isoTime(claim.claimedBy.atMs) },
		completedAt: isoTime(claim.completedAtMs),
		result: claim.result as IDataObject,
		retryAfterMs: claim.retryAfterMs,
	};
}

/** What ends the claim later. Nothing else in the item does, and a duplicate that a test lets through has none. */
function receiptOf({ admission, rules, owner }: Judged): IDataObject {
	const fence = admission?.claim?.fence;
	if (!admission?.key || !rules || owner === null || !fence) return {};
	const key = { scope: rules.scope, provider: rules.provider, eventId: admission.key.eventId };
	return { claimToken: encodeReceipt({ key, owner, fence }) };
}

function signatureOf(run: Run, { signature }: Admission): IDataObject {
	if (signature === null) return { signature: { verified: false } };
	const { scheme, secretIndex, signedAtMs, weak } = signature;
	const ageSeconds = signedAtMs === null ? null : Math.round((run.receivedAtMs - signedAtMs) / 1000);
	return {
		signature: { verified: true, scheme, secret: secretIndex === 0 ? 'current' : 'previous', ageSeconds, weak },
	};
}

function withoutBinary({ json, ...rest }: INodeExecutionData): INodeExecutionData {
	const { binary: _, ...kept } = rest;
	// Where a workflow keeps binary data within the JSON.
	const { _files: __, ...fields } = json;
	return { ...kept, json: fields };
}
