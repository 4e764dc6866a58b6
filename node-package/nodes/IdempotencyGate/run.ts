import type { IExecuteFunctions } from 'n8n-workflow';
import { executionMark } from './execution';
import { Parameters } from './parameters';
import { asProblem, type Problem, problems } from './problems';
import { workflowId } from './scope';

/** What holds for all items of one run of the node. */
export interface Run {
	/** An agent sees output 0 only. */
	readonly asTool: boolean;
	readonly oneOutput: boolean;
	readonly resultField: string;
	readonly respond: 'never' | 'rejected' | 'duplicatesAndRejected';
	readonly test: Test;
	/** Nothing is stopped: what would have been is only said. */
	readonly observe: boolean;
	/** `null` where n8n has not numbered it. */
	readonly executionId: string | null;
	/** Under what name claims remember it, see `execution.ts`. */
	readonly executionMark: string | null;
	/** Milliseconds since the epoch. */
	readonly receivedAtMs: number;
	/** What could not be read; a default stands in its place. */
	readonly problem: Problem | null;
}

/** `none`: production rules. `claimed`: a duplicate goes to Claimed all the same. `real`: only the memory is separate. */
export type Test = 'none' | 'claimed' | 'real';

/** Does not throw: what n8n does with a node that throws is among the settings. */
export function readRun(context: IExecuteFunctions): Run {
	const parameters = new Parameters(context, 0);
	const asTool = isTool(context);
	let problem: Problem | null = null;
	const read = <T>(get: () => T, otherwise: T): T => {
		try {
			return get();
		} catch (thrown) {
			problem ??= asProblem(thrown);
			return otherwise;
		}
	};
	const outputs = ['separate', 'single'] as const;
	const answers = ['duplicatesAndRejected', 'never', 'rejected'] as const;
	const output = read(() => parameters.choice('options.output', 'Output', outputs, 'separate'), 'separate');
	const resultField = read(() => resultFieldOf(parameters, asTool), DETAILS);
	const respond = read(() => parameters.choice('options.respondToWebhook', 'Respond to Webhook', answers, 'never'), 'never');
	const executionId = context.getExecutionId() || null;
	return {
		asTool,
		oneOutput: asTool || output === 'single',
		resultField,
		respond: asTool ? 'never' : respond,
		test: read(() => testOf(context, parameters), 'none'),
		observe: read(() => parameters.choice('options.mode', 'Mode', ['enforce', 'observe'] as const, 'enforce'), 'enforce') === 'observe',
		executionId,
		executionMark: executionId === null ? null : executionMark(executionId, workflowId(context)),
		receivedAtMs: receivedAt(context),
		problem,
	};
}

const DETAILS = 'idempotency';

/** Where the details go; not where the answer itself stands. */
function resultFieldOf(parameters: Parameters, asTool: boolean): string {
	const name = parameters.text('options.resultField', 'Put Result in Field') || DETAILS;
	if (name === 'claimed' || (asTool && name === 'message')) throw problems.resultFieldTaken(name);
	return name;
}

/** n8n runs a tool in one of two ways: by a context of its own, or in line with a mark on the node. */
function isTool(context: IExecuteFunctions): boolean {
	return context.isToolExecution() || context.getNode().rewireOutputLogTo === 'ai_tool';
}

/** A "Retry" of a test is a test. */
function testOf(context: IExecuteFunctions, parameters: Parameters): Test {
	const began = contextOf(context).source ?? context.getMode();
	if (!['manual', 'evaluation'].includes(began)) return 'none';
	const ways = ['production', 'separateClaimed', 'separateReal'] as const;
	const way = parameters.choice('options.testExecutions', 'Test Executions', ways, 'separateClaimed');
	return way === 'production' ? 'none' : way === 'separateReal' ? 'real' : 'claimed';
}

/**
 * When the request came in. n8n's main process notes it before the execution waits in a queue, and "Retry" of a failed
 * execution keeps it: the signed time is judged by it, and not by the moment a worker comes round to it.
 *
 * It is the request that began the execution. Behind a Wait node the item may be a later one, and then now is nearer.
 */
function receivedAt(context: IExecuteFunctions): number {
	const { establishedAt, source } = contextOf(context);
	const byRequest = establishedAt !== undefined && (source === 'webhook' || context.getMode() === 'retry');
	const resumed = () => context.getParentNodes(context.getNode().name).some(({ type }) => type === 'n8n-nodes-base.wait');
	return byRequest && !resumed() ? establishedAt : Date.now();
}

/** How and when the execution began; older versions of n8n do not say. */
function contextOf(context: IExecuteFunctions): { establishedAt?: number; source?: string } {
	return (context.getExecutionContext as IExecuteFunctions['getExecutionContext'] | undefined)?.call(context) ?? {};
}
