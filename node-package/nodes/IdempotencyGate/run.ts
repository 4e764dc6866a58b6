import type { IExecuteFunctions } from 'n8n-workflow';
import { Parameters } from './parameters';

/** What holds for all items of one run of the node. */
export interface Run {
	/** An agent sees output 0 only. */
	readonly asTool: boolean;
	readonly oneOutput: boolean;
	readonly resultField: string;
	readonly respond: 'never' | 'rejected' | 'duplicatesAndRejected';
	readonly test: Test;
	/** `null` where n8n has not numbered it. */
	readonly executionId: string | null;
	/** Milliseconds since the epoch. */
	readonly receivedAtMs: number;
}

/** `none`: production rules. `claimed`: a duplicate goes to Claimed all the same. `real`: only the memory is separate. */
export type Test = 'none' | 'claimed' | 'real';

export function readRun(context: IExecuteFunctions): Run {
	const parameters = new Parameters(context, 0);
	const asTool = isTool(context);
	const outputs = ['separate', 'single'] as const;
	const answers = ['duplicatesAndRejected', 'never', 'rejected'] as const;
	return {
		asTool,
		oneOutput: asTool || parameters.choice('options.output', 'Output', outputs, 'separate') === 'single',
		resultField: parameters.text('options.resultField', 'Put Result in Field', 'idempotency') || 'idempotency',
		respond: asTool ? 'never' : parameters.choice('options.respondToWebhook', 'Respond to Webhook', answers, 'never'),
		test: testOf(context, parameters),
		executionId: context.getExecutionId() || null,
		receivedAtMs: receivedAt(context),
	};
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
