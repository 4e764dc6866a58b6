import type { IDataObject } from 'n8n-workflow';
import { type EventKey, loadCore, type StoredClaim } from '../../../src/index';
import { executionIdIn } from '../execution';

/** The details that a gate has put into an item, under whatever name; those of the nearest gate are not always the last. */
export function detailsIn(json: IDataObject): IDataObject[] {
	return Object.entries(json).flatMap(([name, value]) => (!REQUEST.has(name) && isDetails(value) ? [value] : []));
}

/** Which event the details are about. */
export function keyIn(details: IDataObject): EventKey {
	const { scope, provider, eventId } = details as { scope: string; provider: string; eventId: string };
	return { scope, provider, eventId };
}

/** What names the event, in every item about it. */
export function keyDetails(key: EventKey): IDataObject {
	const { scope, provider, eventId } = key;
	return { provider, eventId, scope, idempotencyKey: loadCore().idempotencyKey(key) };
}

/** A record for people and programs. Without the owner token, which would end the claim. */
export function recordDetails(record: StoredClaim): IDataObject {
	return {
		...keyDetails(record.key),
		eventType: record.eventType,
		status: record.state,
		attempt: record.attempt,
		stage: record.stage,
		firstSeenAt: isoTime(record.firstSeenAtMs),
		claimedAt: isoTime(record.claimedAtMs),
		leaseUntil: isoTime(record.leaseUntilMs),
		nextAttemptAt: isoTime(record.nextAttemptAtMs),
		completedAt: isoTime(record.completedAtMs),
		executionId: executionIdIn(record.executionId),
		bodyHash: record.bodyDigest,
		fence: record.fence,
		// Not `error`: with it at the top of an item, n8n takes the item for a failed one.
		lastError: record.error,
		result: record.result as IDataObject,
	};
}

export function isoTime(ms: number | null): string | null {
	return ms === null ? null : new Date(ms).toISOString();
}

/** Fields of the Webhook node, with whatever the sender wrote into them. */
const REQUEST = new Set(['body', 'headers', 'params', 'query']);

export function isDetails(value: unknown): value is IDataObject {
	if (typeof value !== 'object' || value === null) return false;
	const fields = value as IDataObject;
	return ['outcome', 'scope', 'provider', 'eventId'].every((name) => typeof fields[name] === 'string');
}
