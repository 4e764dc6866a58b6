/**
 * Answers of a crowd are right if there is an order in which the reference, one step after the other, gives the same
 * answers and leaves the same record. What ended before something else began comes before it. Records are independent of
 * each other, so each is judged by itself.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Recovered, RecoverySearch } from '../../node-package/src/store/lifecycle';
import type { StoredClaim } from '../../node-package/src/store/store';
import { type Answer, CLOSE_MS, judge, judgeRecovered, type Judged, type Operation, recordOf, show, slotOf, withSlot, type World } from './history';
import { UNKNOWN } from './reference';

export interface Call {
	/** By `Promises.tick`. */
	readonly began: number;
	/** Infinite where nobody knows when, or whether, it was carried out. */
	readonly ended: number;
	readonly asked: Operation | { readonly do: 'recover'; readonly ask: RecoverySearch };
	readonly answer: Answer | null;
}

/** The world after the calls, which are all about one event. */
export function linearise(world: World, eventId: string, calls: readonly Call[], found: StoredClaim | null): Judged {
	const faults = new Set<string>();
	const after = search(world, eventId, calls, found, faults);
	if (after !== null) return { world: after, fault: null };
	const answers = calls.map(({ asked, answer }) => `${asked.do}: ${answer === null ? 'unknown' : `${String(answer['verdict'])} ${String(answer['fence'] ?? '')}`}`);
	return { world, fault: `no order of [${answers.join(', ')}] explains ${eventId}: ${[...faults].slice(0, 4).join('; ')}` };
}

function search(world: World, eventId: string, open: readonly Call[], found: StoredClaim | null, faults: Set<string>): World | null {
	if (open.every(({ answer }) => answer === null)) {
		const { world: seen, fault } = judgeRecord(world, eventId, found);
		if (fault === null) return seen;
		faults.add(fault);
	}
	const first = Math.min(...open.map(({ ended }) => ended));
	for (const call of open) {
		if (call.began > first) continue;
		const { world: next, fault } = step(world, call);
		if (fault !== null) {
			faults.add(`${call.asked.do}: ${fault}`);
			continue;
		}
		const after = search(next, eventId, open.filter((one) => one !== call), found, faults);
		if (after !== null) return after;
	}
	return null;
}

function step(world: World, { asked, answer }: Call): Judged {
	if (asked.do !== 'recover') return judge(world, asked, answer);
	return judgeRecovered(world, asked.ask, answer as unknown as Recovered);
}

/** Whether the stored record is what the reference says. A fence that nobody was told is learnt from it. */
export function judgeRecord(world: World, eventId: string, found: StoredClaim | null): Judged {
	const record = recordOf(world, eventId);
	if (record === null || found === null) {
		if (record === null && found === null) return { world, fault: null };
		return { world, fault: `record: ${show(found?.state ?? null)} instead of ${show(record?.state ?? null)}` };
	}
	const slot = slotOf(world, { eventId });
	const unknown = record.fence === UNKNOWN;
	if (unknown && BigInt(found.fence) <= slot.greatest) return { world, fault: `record: fence ${found.fence} after ${slot.greatest}` };
	const expected = {
		state: record.state,
		owner: record.owner,
		fence: unknown ? found.fence : record.fence,
		attempt: record.attempt,
		stage: record.stage,
		error: record.error,
		result: record.result,
		bodyDigest: record.bodyDigest,
		executionId: record.executionId,
	};
	for (const [field, value] of Object.entries(expected)) {
		const stored = found[field as keyof StoredClaim];
		if (!isDeepStrictEqual(stored, value)) return { world, fault: `record: ${field} is ${show(stored)} instead of ${show(value)}` };
	}
	const times = [found.leaseUntilMs, found.nextAttemptAtMs, found.completedAtMs].map((time) => time !== null);
	const states = ['processing', 'failed', 'completed'].map((state) => state === record.state);
	if (!isDeepStrictEqual(times, states)) return { world, fault: `record: times of ${show(found)}` };
	const rest = (found.leaseUntilMs ?? found.nextAttemptAtMs ?? Date.now()) - Date.now();
	const expectedRest = (record.until ?? world.now) - world.now;
	if (Math.abs(rest - expectedRest) > CLOSE_MS) return { world, fault: `record: ${rest} ms of lease or wait instead of ${expectedRest}` };
	if (!unknown) return { world, fault: null };
	const learnt = { record: { ...record, fence: found.fence }, greatest: BigInt(found.fence) };
	return { world: withSlot(world, eventId, learnt), fault: null };
}
