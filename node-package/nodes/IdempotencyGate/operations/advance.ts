import type { IExecuteFunctions } from 'n8n-workflow';
import { encodeReceipt, type StepReply, type Store, StoreError } from '../../../src/index';
import { type Ask, ownerOperation } from '../events/ownerOperation';
import type { Parameters } from '../parameters';
import { Problem, problems } from '../problems';
import type { Run } from '../run';
import { runMemory } from '../runMemory';

interface Step {
	readonly stage: string;
	readonly stages: readonly string[];
}

/** Moves an event to a later stage, never back. */
export const advance = ownerOperation<Step, StepReply>({
	outputs: 2,

	read(parameters, context) {
		refuseToContinue(context);
		return readStep(parameters);
	},

	async carryOut(store, asks, context, run) {
		const before = await stagesBefore(store, asks, context, run);
		const steps = asks.map(({ settings, ...claim }) => ({ ...claim, ...settings }));
		// The store does not ask again by itself. With the stages before at hand, what the answer means is known.
		const replies = await store.advance(steps).catch(async (error: unknown) => {
			if (error instanceof StoreError && error.code === 'store_unavailable') return await store.advance(steps);
			throw error;
		});
		return replies.map((reply, at) => {
			const ask = asks[at] as Ask<Step>;
			return isOwnStep(reply, ask.settings, before[encodeReceipt(ask)]) ? { ...reply, verdict: 'advanced' } : reply;
		});
	},

	tell({ verdict, stage, stageBefore }, { settings }) {
		const details = { stage, stageBefore };
		switch (verdict) {
			case 'advanced':
				// "Retry" of an execution that stopped here would find the event at the stage, and leave the step out.
				return { outcome: 'advanced', message: `The event is at the stage '${settings.stage}' now`, details, handsOut: true };
			case 'unknown_stage':
				return { outcome: 'unknown_stage', message: 'Nothing was changed', details, problem: unknownStage(stage, settings) };
			default:
				return { outcome: 'already_there', message: `The event was at the stage '${stage}' already`, details, output: 1 };
		}
	},
});

/**
 * From a node that throws under this setting n8n sends the items to the first output, where the step would be done though
 * nobody knows whether it is due. So the setting is turned off for this run; this is the object the engine looks at.
 */
function refuseToContinue(context: IExecuteFunctions): void {
	const { onError, continueOnFail } = context.getNode();
	const continues = onError === 'continueRegularOutput' || (onError === undefined && continueOnFail === true);
	if (!continues) return;
	context.getExecuteData().node.onError = 'stopWorkflow';
	throw new Problem(
		'on_error_continue',
		"'On Error: Continue' cannot be used with Advance",
		"Nobody would know whether the step is due. Choose 'Continue (using error output)' or 'Stop Workflow' in the node's Settings",
	);
}

function readStep(parameters: Parameters): Step {
	const stages = parameters
		.text('stages', 'Stages')
		.split(',')
		.map((name) => name.trim())
		.filter((name) => name !== '');
	const stage = parameters.text('stage', 'Stage').trim();
	if (stages.length === 0) throw problems.parameterUnsuitable('Stages', 'is empty', 'Name all stages in their order, parted by commas');
	if (stages.length > 50 || stages.some((name) => name.length > 100)) {
		throw problems.parameterUnsuitable('Stages', 'is too long', 'There may be 50 stages of 100 characters each');
	}
	if (new Set(stages).size < stages.length) {
		throw problems.parameterUnsuitable('Stages', 'names a stage twice', 'Each stage stands at one place in the order');
	}
	if (!stages.includes(stage)) {
		throw problems.parameterUnsuitable('Stage', `is '${stage}', which is not among the stages`, `Choose one of: ${stages.join(', ')}`);
	}
	return { stage, stages };
}

/**
 * The stages that the events were at before the first try of this run, by receipt. If the answer of a try is lost, the
 * next one (of this operation itself, or of Retry On Fail) finds the event "already there": by its own doing, and the step
 * is still due.
 */
async function stagesBefore(
	store: Store,
	asks: ReadonlyArray<Ask<Step>>,
	context: IExecuteFunctions,
	run: Run,
): Promise<Record<string, string | null>> {
	const memory = runMemory(context, run);
	const noted = memory['stages'] as Record<string, string | null> | undefined;
	if (noted) return noted;
	const records = await Promise.all(asks.map(async ({ key }) => await store.find(key)));
	// Of an event that is somebody else's by now nothing is noted; the step itself will be told.
	const own = asks.flatMap((ask, at) => {
		const record = records[at];
		return record?.fence === ask.fence ? [[encodeReceipt(ask), record.stage] as const] : [];
	});
	const stages = Object.fromEntries(own);
	memory['stages'] = stages;
	return stages;
}

/** True where an earlier try of this run has made the step: the event is where it led, and had not been there before. */
function isOwnStep(reply: StepReply, { stage, stages }: Step, before: string | null | undefined): boolean {
	if (reply.verdict !== 'already_there' || reply.stage !== stage || before === undefined) return false;
	return before === null || stages.indexOf(before) < stages.indexOf(stage);
}

function unknownStage(stage: string | null, { stages }: Step): Problem {
	return new Problem(
		'unknown_stage',
		`The event is at the stage '${stage}', which is not among the stages of this node`,
		`Add it to 'Stages' where it belongs. They are: ${stages.join(', ')}`,
	);
}
