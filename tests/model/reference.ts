/**
 * The life of a claim as plain rules, T1 to T14: what a store must answer, and what the record is afterwards. Knows no SQL
 * and no store; the only clock is the `now` it is given. A new ownership has the fence `NEW`: whoever compares puts in what
 * the store has answered.
 */
import type { Recovered, RecoverySearch, Reopening, Resolution, Step, Extension } from '../../node-package/src/store/lifecycle';
import type { ClaimAsk, Settle, SavedPayload, Subject } from '../../node-package/src/store/store';

export type State = 'processing' | 'failed' | 'uncertain' | 'completed' | 'dead';

/** An ownership that begins in this step. */
export const NEW = 'new';
/** An ownership whose answer nobody has got. */
export const UNKNOWN = 'unknown';

export interface Claim {
	readonly state: State;
	readonly owner: string;
	readonly fence: string;
	readonly attempt: number;
	/** When the lease (processing) or the wait (failed) is over, ms; `null` in every other state. */
	readonly until: number | null;
	readonly hold: boolean;
	readonly maxAttempts: number;
	readonly stage: string | null;
	readonly error: string | null;
	readonly result: unknown;
	readonly bodyDigest: string | null;
	readonly executionId: string | null;
	readonly subject: Subject | null;
	readonly payload: SavedPayload | null;
}

export interface Moment {
	readonly now: number;
	/** Newest version of the object that an event was completed for. */
	newest(subject: Subject | null): bigint | null;
}

/** What must be answered, and the record after it. */
export interface Outcome {
	readonly answer: Readonly<Record<string, unknown>>;
	readonly after: Claim | null;
}

export function claim(record: Claim | null, ask: ClaimAsk, at: Moment): Outcome {
	const newer = ask.subject !== undefined && (at.newest(ask.subject) ?? 0n) > BigInt(ask.subject.version);
	if (record === null) {
		if (newer) return { answer: { verdict: 'superseded', state: 'completed', fence: null, matchedOn: null }, after: null };
		return granted('claimed', fresh(ask), ask, at);
	}
	const answered = (verdict: string): Outcome => refused(verdict, record, ask, at);
	const onClaim = ask.unfinished === 'complete_on_claim';
	const mine = record.owner === ask.owner;
	if (mine && record.state === 'processing') {
		const after = { ...record, until: at.now + ask.leaseMs };
		return { answer: ours('reentrant', after, ask, record), after };
	}
	if (mine && record.state === 'completed' && onClaim) return { answer: ours('reentrant', record, ask, record), after: record };
	if (ask.payloadChanged === 'reject' && changed(record, ask)) return answered('payload_mismatch');
	if (record.state === 'completed' || record.state === 'dead' || record.state === 'uncertain') return answered(record.state);
	if (!isOver(record, at)) return answered(record.state === 'processing' ? 'in_progress' : 'backoff');
	if (record.state === 'processing' && (record.hold || ask.unfinished === 'hold')) {
		return refused('held', ended(record, 'uncertain'), ask, at);
	}
	if (record.attempt >= ask.maxAttempts) return refused('exhausted', ended(record, 'dead'), ask, at);
	if (newer) {
		const over = superseded(record);
		return { answer: { ...refused('superseded', over, ask, at).answer, matchedOn: null }, after: over };
	}
	return granted(record.state === 'failed' ? 'retried' : 'taken_over', record, ask, at);
}

export function settle(record: Claim | null, { owner, fence, to }: Settle, at: Moment): Outcome {
	if (record === null) return { answer: { verdict: 'fenced_out', state: null }, after: null };
	const changesNothing = (verdict: string): Outcome => ({ answer: { verdict, state: record.state }, after: record });
	if (record.owner !== owner || record.fence !== fence) return changesNothing('fenced_out');
	const usedUp = to.state === 'failed' && record.attempt >= (to.maxAttempts ?? record.maxAttempts);
	const state = usedUp ? 'dead' : to.state;
	const resumed = record.state === 'failed' && to.state === 'completed' && to.resumed === true;
	if (record.state === 'completed' && to.state === 'completed') {
		return { answer: { verdict: 'already', state }, after: { ...record, result: record.result ?? to.result ?? null } };
	}
	if (record.state !== 'processing' && !resumed) return changesNothing(record.state === state ? 'already' : 'fenced_out');
	const verdict = record.state === 'processing' && isOver(record, at) ? 'late' : 'settled';
	if (to.state === 'completed') {
		return { answer: { verdict, state }, after: { ...completed(record), error: null, result: to.result ?? null } };
	}
	const wait = to.state === 'failed' && state === 'failed' ? at.now + (to.retryAfterMs as number) : null;
	return { answer: { verdict, state }, after: { ...ended(record, state), until: wait, error: to.error, result: null } };
}

export function extend(record: Claim | null, { owner, fence, leaseMs }: Extension, at: Moment): Outcome {
	if (!isOwned(record, owner, fence)) return notOwned(record);
	const after = { ...record, until: at.now + leaseMs };
	return { answer: { verdict: 'extended', state: 'processing' }, after };
}

export function advance(record: Claim | null, { owner, fence, stage, stages }: Step): Outcome {
	if (!isOwned(record, owner, fence)) return notOwned(record);
	const before = record.stage === null ? -1 : stages.indexOf(record.stage);
	const answer = { state: record.state, stageBefore: record.stage };
	if (record.stage !== null && before < 0) return { answer: { ...answer, verdict: 'unknown_stage' }, after: record };
	if (before >= stages.indexOf(stage)) {
		return { answer: { ...answer, verdict: 'already_there', stage: record.stage }, after: record };
	}
	return { answer: { ...answer, verdict: 'advanced', stage }, after: { ...record, stage } };
}

/** `null`: the recovery leaves it alone. `token`: the owner's, if it is handed out. */
export function recover(record: Claim | null, search: RecoverySearch, token: string, at: Moment): Outcome | null {
	if (record === null || !isOver(record, at)) return null;
	if (record.state === 'processing' ? search.which === 'failed' : search.which === 'stale') return null;
	const touched = (verdict: Recovered['verdict'], after: Claim): Outcome => {
		const mine = verdict === 'taken_over' || verdict === 'retried';
		// What was saved is handed out along with a record that it ends here, too.
		const { state, attempt, stage, error, payload } = { ...after, error: record.error, payload: record.payload };
		const receipt = mine ? { owner: after.owner, fence: after.fence } : { owner: null, fence: null };
		const answer = { verdict, state, attempt, stage, error, ...receipt, executionIdBefore: record.executionId };
		return { answer: { ...answer, payload: asReceived(payload) }, after };
	};
	if (record.state === 'processing' && (record.hold || search.unfinished === 'hold')) {
		return touched('held', ended(record, 'uncertain'));
	}
	if (record.attempt >= (search.maxAttempts ?? record.maxAttempts)) return touched('exhausted', ended(record, 'dead'));
	if (record.subject && (at.newest(record.subject) ?? 0n) > BigInt(record.subject.version)) {
		return touched('superseded', superseded(record));
	}
	const { executionId } = search;
	const after = { ...owned(record, token, at.now + search.leaseMs), executionId };
	return touched(record.state === 'failed' ? 'retried' : 'taken_over', after);
}

export function reopen(record: Claim | null, { owner, leaseMs, reason, executionId }: Reopening, at: Moment): Outcome {
	if (record === null) return { answer: { verdict: 'not_found', state: null, fence: null }, after: null };
	const again = record.state === 'processing' && record.owner === owner;
	if (!again && (record.state === 'processing' || record.state === 'failed')) {
		return { answer: { verdict: 'not_finished', state: record.state, fence: null }, after: record };
	}
	const until = at.now + leaseMs;
	const after = { ...(again ? { ...record, until } : owned(record, owner, until)), error: reason, result: null, executionId };
	const { state, fence, attempt, stage } = after;
	return { answer: { verdict: 'reopened', state, fence, attempt, stage, payload: asReceived(after.payload) }, after };
}

export function resolve(record: Claim | null, { fence, to, reason }: Resolution, at: Moment): Outcome {
	if (record === null) return { answer: { verdict: 'not_found', state: null }, after: null };
	const changesNothing = (verdict: string): Outcome => ({ answer: { verdict, state: record.state }, after: record });
	if (fence !== null && fence !== record.fence) return changesNothing('fenced_out');
	if (record.state !== 'uncertain') return changesNothing(record.state === to.state ? 'already' : 'not_uncertain');
	const until = to.state === 'failed' ? at.now + (to.retryAfterMs as number) : null;
	const after = to.state === 'completed' ? completed(record) : { ...ended(record, to.state), until };
	const result = to.state === 'completed' ? (to.result ?? null) : null;
	return { answer: { verdict: 'resolved', state: to.state }, after: { ...after, error: reason, result } };
}


function fresh({ bodyDigest }: ClaimAsk): Claim {
	const nobody = { owner: '', fence: '', attempt: 0, until: null, executionId: null };
	const nothing = { stage: null, error: null, result: null, subject: null, payload: null };
	return { state: 'failed', hold: false, maxAttempts: 0, bodyDigest, ...nobody, ...nothing };
}

/** T1, T4, T11. */
function granted(verdict: string, before: Claim, ask: ClaimAsk, at: Moment): Outcome {
	const handedOut: Claim = {
		...owned(before, ask.owner, at.now + ask.leaseMs),
		hold: before.hold || ask.unfinished === 'hold',
		maxAttempts: ask.maxAttempts,
		executionId: ask.executionId,
		subject: ask.subject ?? before.subject,
	};
	const onClaim = ask.unfinished === 'complete_on_claim';
	const after = onClaim ? completed(handedOut) : { ...handedOut, payload: before.payload ?? ask.payload ?? null };
	return { answer: ours(verdict, after, ask, before), after };
}

function owned(before: Claim, owner: string, until: number): Claim {
	return { ...before, state: 'processing', owner, fence: NEW, attempt: before.attempt + 1, until };
}

function ended(record: Claim, state: State): Claim {
	return { ...record, state, until: null };
}

/** What had been saved for the recovery goes, unless it is to be kept. */
function completed(record: Claim): Claim {
	return { ...ended(record, 'completed'), payload: record.payload?.keep === 'always' ? record.payload : null };
}

/** Nobody's any more, so its last owner cannot be told that he has completed it. */
function superseded(record: Claim): Claim {
	return { ...completed(record), fence: UNKNOWN, error: 'superseded by a newer event' };
}

function isOver({ until }: Claim, { now }: Moment): boolean {
	return until !== null && until <= now;
}

function isOwned(record: Claim | null, owner: string, fence: string): record is Claim {
	return record?.state === 'processing' && record.owner === owner && record.fence === fence;
}

function notOwned(record: Claim | null): Outcome {
	return { answer: { verdict: 'fenced_out', state: record?.state ?? null }, after: record };
}

function changed(record: Claim, ask: ClaimAsk): boolean {
	return record.bodyDigest !== null && ask.bodyDigest !== null && record.bodyDigest !== ask.bodyDigest;
}

function ours(verdict: string, after: Claim, ask: ClaimAsk, before: Claim): Outcome['answer'] {
	const { state, fence, attempt, stage } = after;
	const payloadChanged = changed(before, ask);
	return { verdict, state, fence, attempt, stage, payloadChanged, matchedOn: null, result: null, retryAfterMs: null };
}

function refused(verdict: string, after: Claim, ask: ClaimAsk, { now }: Moment): Outcome {
	const { state, attempt, stage, result, until } = after;
	const retryAfterMs = until === null ? null : Math.max(until - now, 0);
	const rest = { fence: null, payloadChanged: changed(after, ask), matchedOn: 'event_id', retryAfterMs };
	return { answer: { verdict, state, attempt, stage, result, ...rest }, after };
}

function asReceived(payload: SavedPayload | null): unknown {
	return payload && { headers: payload.headers, body: payload.body };
}
