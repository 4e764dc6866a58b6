import type { ICredentialDataDecryptedObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { Gate, loadCore, type Admission, type Applicant, type Core, type Refusal } from '../../src/index';
import { openStore } from './connect/store';
import { readDelivery } from './delivery';
import { ownersOf } from './owners';
import { Parameters } from './parameters';
import { asProblem, problemOf, type Problem, problems } from './problems';
import { type ItemRules, productionToleranceMs, readRules, verifies } from './rules';
import type { Run } from './run';

/** What became of one item. Exactly one of `admission` and `problem` is `null`, except where the gate names a problem. */
export interface Judged {
	readonly item: INodeExecutionData;
	/** Position in the input. */
	readonly itemIndex: number;
	/** Owner token; `null` where the gate was not asked. */
	readonly owner: string | null;
	/** `null` where the parameters could not be read. */
	readonly rules: ItemRules | null;
	readonly admission: Admission | null;
	readonly problem: Problem | null;
	/** True where the signed time is outside the window and only a test lets it pass. */
	readonly lateInProduction: boolean;
	/** True where the body is to be saved for the recovery, but larger than what is saved. */
	readonly tooLargeToSave: boolean;
}

/** Judges all items with one round trip to the store. One answer each, in their order. */
export async function judge(
	context: IExecuteFunctions,
	run: Run,
	items: readonly INodeExecutionData[],
): Promise<Judged[]> {
	const core = loadCore();
	const owners = ownersOf(context, core, run, items.length);
	const secrets = await secretsFor(context);
	const asked = await Promise.all(items.map((item, index) => ask(context, run, item, index, secrets)));

	// What stops the workflow stops it before anything is claimed.
	const stopped = asked.some(({ problem }) => problem !== null) && !context.continueOnFail() && !run.observe;
	const ready = stopped ? [] : asked.flatMap((one) => (isReady(one) ? [one] : []));
	const applicants = ready.map(({ delivery, rules, itemIndex }): Applicant => {
		return { delivery, rules, owner: owners[itemIndex] as string, executionId: run.executionMark };
	});
	const admissions = applicants.length === 0 ? [] : await new Gate(core, await openStore(context)).admit(applicants);

	let next = 0;
	return asked.map((one) => {
		if (stopped || !isReady(one)) return unasked(core, one);
		return answered(context, run, one, owners[one.itemIndex] as string, admissions[next++] as Admission);
	});
}

/** An item and what is known before the gate is asked. */
interface Asked {
	readonly item: INodeExecutionData;
	readonly itemIndex: number;
	readonly rules: ItemRules | null;
	readonly delivery: Applicant['delivery'] | null;
	readonly problem: Problem | null;
}

type Ready = Asked & { readonly rules: Applicant['rules']; readonly delivery: Applicant['delivery'] };

/** An item that the gate was not asked about. */
export const NOTHING = { owner: null, rules: null, admission: null, lateInProduction: false, tooLargeToSave: false } as const;

function isReady(one: Asked): one is Ready {
	return one.delivery !== null && one.rules !== null && !isRefusal(one.rules.keySource);
}

function isRefusal(source: ItemRules['keySource']): source is Refusal {
	return 'code' in source;
}

async function secretsFor(context: IExecuteFunctions): Promise<readonly Uint8Array[] | null> {
	if (!verifies(new Parameters(context, 0))) return null;
	let credential: ICredentialDataDecryptedObject;
	try {
		credential = await context.getCredentials('webhookSigningSecretApi', 0);
	} catch (cause) {
		throw problems.credentialUnusable(cause as Error);
	}
	const { signingSecret, previousSigningSecret } = credential;
	const inUse = previousSigningSecret ? [signingSecret, previousSigningSecret] : [signingSecret];
	return inUse.map((secret) => new TextEncoder().encode(typeof secret === 'string' ? secret : ''));
}

async function ask(
	context: IExecuteFunctions,
	run: Run,
	item: INodeExecutionData,
	itemIndex: number,
	secrets: readonly Uint8Array[] | null,
): Promise<Asked> {
	try {
		const parameters = new Parameters(context, itemIndex);
		const rules = readRules(context, parameters, run, secrets);
		const delivery = await readDelivery(context, itemIndex, {
			dataField: parameters.text('options.inputDataFieldName', 'Input Data Field Name', 'data'),
			receivedAtMs: run.receivedAtMs,
			needsHeaders: rules.verification !== null,
		});
		return { item, itemIndex, rules, delivery, problem: null };
	} catch (thrown) {
		return { item, itemIndex, rules: null, delivery: null, problem: asProblem(thrown) };
	}
}

function unasked(core: Core, { item, itemIndex, rules, problem }: Asked): Judged {
	if (problem || rules === null || !isRefusal(rules.keySource)) return { item, itemIndex, ...NOTHING, rules, problem };
	const refusal = rules.keySource;
	const decision = core.decide({ type: 'refused', code: refusal.code, policy: rules.policy });
	const admission: Admission = { decision, refusal, signature: null, key: null, claim: null, payloadSaved: false, storeError: null };
	return { item, itemIndex, ...NOTHING, rules, admission, problem: null };
}

function answered(context: IExecuteFunctions, run: Run, one: Ready, owner: string, admission: Admission): Judged {
	const { item, itemIndex, rules, delivery } = one;
	const signedAtMs = admission.signature?.signedAtMs ?? null;
	const window = run.test === 'claimed' ? productionToleranceMs(new Parameters(context, itemIndex)) : null;
	const late = window !== null && signedAtMs !== null && Math.abs(delivery.receivedAtMs - signedAtMs) > window;
	const problem = problemOf(admission, rules.provider);
	const { savePayload, unfinished } = rules;
	// What is completed by claiming it is never recovered, so it is not saved anyway.
	const recoverable = savePayload !== undefined && unfinished !== 'complete_on_claim';
	const tooLargeToSave = recoverable && (delivery.body?.byteLength ?? 0) > savePayload.maxBytes;
	return { item, itemIndex, owner, rules, admission, problem, lateInProduction: late, tooLargeToSave };
}
