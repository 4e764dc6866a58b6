import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { Recovered } from '../../src/index';
import { isoTime, keyDetails } from './events/details';
import { executionIdIn } from './execution';
import { handedOutItem, requestOf } from './handedOutItem';
import { readLeaseMs } from './lease';
import type { Parameters } from './parameters';
import type { Test } from './run';
import { readSearchedScope, type SearchedScope } from './searchedScope';

/** What is looked for, as the user says it. */
export interface RecoveryRules extends SearchedScope {
	readonly which: 'both' | 'failed' | 'stale';
	readonly limit: number;
	readonly provider: string | null;
	readonly leaseMs: number;
	readonly maxAttempts: number | null;
	readonly unfinished: 'hold' | 'take_over';
}

export function readRecoveryRules(parameters: Parameters, test: Test): RecoveryRules {
	const maxAttempts = parameters.number('options.maxAttempts', 'Maximum Attempts', [1, 1000], undefined);
	const unfinished = parameters.choice('options.unfinishedEvents', 'Unfinished Events', ['hold', 'takeOver'] as const, 'takeOver');
	return {
		which: parameters.choice('which', 'Which', ['both', 'failed', 'stale'] as const, 'both'),
		limit: readLimit(parameters),
		provider: readProvider(parameters),
		leaseMs: readLeaseMs(parameters, 'options.leaseMinutes'),
		maxAttempts: maxAttempts === undefined ? null : Math.trunc(maxAttempts),
		unfinished: unfinished === 'hold' ? 'hold' : 'take_over',
		...readSearchedScope(parameters, test),
	};
}

/** `null`: of all providers. */
export function readProvider(parameters: Parameters): string | null {
	const provider = parameters.text('provider', 'Provider', ANY_PROVIDER);
	return provider === ANY_PROVIDER ? null : provider;
}

export const ANY_PROVIDER = 'any';

export function readLimit(parameters: Parameters): number {
	return Math.trunc(parameters.number('limit', 'Limit', [1, 1000], 50));
}

/** The item of a record that is the caller's now; `null` where it could not be handed out. */
export function recoveredItem(recovered: Recovered, resultField?: string): INodeExecutionData | null {
	const { verdict, owner, fence } = recovered;
	if (owner === null || fence === null || (verdict !== 'retried' && verdict !== 'taken_over')) return null;
	return handedOutItem({ ...recovered, outcome: verdict, owner, fence }, resultField);
}

/** The item of a record that has ended instead. Without the raw body, like everything that is not to be worked on. */
export function endedItem({ payload, ...record }: Recovered, resultField = 'idempotency'): INodeExecutionData {
	const details: IDataObject = {
		outcome: record.verdict,
		message: REASONS[record.verdict] ?? '',
		...keyDetails(record.key),
		eventType: record.eventType,
		status: record.state,
		attempt: record.attempt,
		stage: record.stage,
		firstSeenAt: isoTime(record.firstSeenAtMs),
		executionIdBefore: executionIdIn(record.executionIdBefore),
		lastError: record.error,
		needsAttention: record.verdict !== 'superseded',
		payloadSaved: payload !== null,
		test: record.key.scope.startsWith('test:'),
	};
	return { json: { ...(payload && requestOf(payload)), claimed: false, [resultField]: details } };
}

const REASONS: Partial<Record<Recovered['verdict'], string>> = {
	exhausted: 'All attempts are used up, and the event is dead. Reopen it to have it handled once more',
	held: 'Its handling was interrupted and may have been done in part. A person must look at it',
	superseded: 'A newer event for the same object has been completed, so this one is not handled any more',
};
