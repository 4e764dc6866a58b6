import type { Extension, Ownership, Reopening, Resolution, Step } from '../lifecycle';
import type { Settle } from '../store';
import {
	attempts,
	cleaned,
	fenceNumber,
	json,
	leaseLength,
	ownerToken,
	refused,
	type WireWait,
	wireWait,
} from './checks';
import { wireKey, type WireKey } from './keys';
import { type PlacedMessage, wireMessages } from './messages';
import { STATE_LETTERS } from './replies';

/** What changes one claim that exists already, as it crosses to the statement that does it. */
export interface Change {
	readonly statement: 'settle' | 'extend' | 'advance' | 'reopen' | 'resolve';
	readonly wire: WireKey & { readonly outbox?: readonly PlacedMessage[] };
}

export function ending({ to, ...ownership }: Settle): Change {
	const failed = to.state === 'failed';
	const completed = to.state === 'completed';
	const wait: WireWait | null = failed ? wireWait(to.retryAfterMs) : null;
	return change('settle', {
		...wireOwnership(ownership),
		state: STATE_LETTERS[to.state],
		error: completed ? null : cleaned(to.error, 2000),
		wait,
		// Without one: what the claim was made with.
		max_attempts: failed && to.maxAttempts !== null ? attempts(to.maxAttempts) : null,
		result: completed ? json(to.result) : null,
		resumed: completed && to.resumed === true,
		...(completed && to.outbox && to.outbox.length > 0 && { outbox: wireMessages(to.outbox) }),
	});
}

export function extending({ leaseMs, ...ownership }: Extension): Change {
	return change('extend', { ...wireOwnership(ownership), lease_ms: leaseLength(leaseMs) });
}

export function advancing({ stage, stages, ...ownership }: Step): Change {
	if (stages.length < 1 || stages.length > 50) throw refused(`There are ${stages.length} stages, but must be 1 to 50`);
	if (new Set(stages).size !== stages.length) throw refused('A stage is listed twice');
	if (!stages.includes(stage)) throw refused(`The stage '${stage}' is not in the list of stages`);
	return change('advance', { ...wireOwnership(ownership), stage, stages: stages.map(stageName) });
}

export function reopening({ key, owner, leaseMs, reason, executionId }: Reopening): Change {
	return change('reopen', {
		...wireKey(key),
		owner: ownerToken(owner),
		lease_ms: leaseLength(leaseMs),
		reason: cleaned(reason, 2000),
		execution_id: cleaned(executionId, 200),
	});
}

export function resolving({ key, fence, to, reason }: Resolution): Change {
	return change('resolve', {
		...wireKey(key),
		fence: fence === null ? null : fenceNumber(fence),
		state: STATE_LETTERS[to.state],
		wait: to.state === 'failed' ? wireWait(to.retryAfterMs) : null,
		result: to.state === 'completed' ? json(to.result) : null,
		reason: cleaned(reason, 2000),
	});
}

function change<Wire extends Change['wire']>(statement: Change['statement'], wire: Wire): Change {
	return { statement, wire };
}

function wireOwnership({ key, owner, fence }: Ownership): WireKey & { readonly owner: string; readonly fence: string } {
	return { ...wireKey(key), owner: ownerToken(owner), fence: fenceNumber(fence) };
}

function stageName(name: string): string {
	const characters = [...name].length;
	if (characters < 1 || characters > 100) throw refused(`A stage has ${characters} characters, but must have 1 to 100`);
	if (cleaned(name, 200) !== name) throw refused('A stage holds NUL or half a character (a lone surrogate)');
	return name;
}
