import { loadCore, type Store, type StoredClaim } from '../../src/index';
import { handedOutItem } from '../IdempotencyGate/handedOutItem';
import { readRecoveryRules, recoveredItem, type RecoveryRules } from '../IdempotencyGate/recovery';
import type { Source } from './source';

/**
 * Events that nobody works on any more, taken over. What has to be held or given up is ended on the way and shows among
 * the dead letters. An execution that has not begun yet has no number, so the claims do not carry one.
 */
export const unfinishedEvents: Source = {
	nothing: 'There are no stale or failed events to show',

	async take(store, parameters) {
		const rules = readRecoveryRules(parameters, 'none');
		const owners = Array.from({ length: rules.limit }, () => loadCore().newToken());
		const records = await store.recover({ ...rules, owners, executionId: null });
		return records.flatMap((record) => recoveredItem(record) ?? []);
	},

	async show(store, parameters) {
		const record = await oneDue(store, readRecoveryRules(parameters, 'none'));
		if (record === null) return [];
		const payload = await store.findPayload(record.key);
		const outcome = record.state === 'failed' ? 'retried' : 'taken_over';
		const shown = { ...record, outcome, attempt: record.attempt + 1, executionIdBefore: record.executionId, payload } as const;
		return [handedOutItem({ ...shown, owner: null, fence: null })];
	},
};

/** By this machine's clock, which is good enough for a look. */
async function oneDue(store: Store, { which, provider, scope }: RecoveryRules): Promise<StoredClaim | null> {
	const states = { both: ['processing', 'failed'], failed: ['failed'], stale: ['processing'] } as const;
	const records = await store.list({ states: states[which], scope, provider, eventType: null, fromMs: null, toMs: null, limit: MOST_LOOKED_AT });
	const due = records.filter(({ key, leaseUntilMs, nextAttemptAtMs }) => {
		return (leaseUntilMs ?? nextAttemptAtMs ?? Infinity) <= Date.now() && (scope !== null || !key.scope.startsWith('test:'));
	});
	return due.at(-1) ?? null;
}

const MOST_LOOKED_AT = 1000;
