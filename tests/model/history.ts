/** What was asked and answered, and whether the reference would have answered the same. */
import { isDeepStrictEqual } from 'node:util';
import type { Extension, Recovered, RecoverySearch, Reopening, Resolution, Step } from '../../node-package/src/store/lifecycle';
import type { ClaimAsk, EventKey, Settle, Subject } from '../../node-package/src/store/store';
import { advance, type Claim, claim, extend, NEW, type Moment, type Outcome, recover, reopen, resolve, settle, UNKNOWN } from './reference';

/** One event of one scope. */
export interface Slot {
	readonly record: Claim | null;
	/** The greatest fence that this key has ever had, also of records that are gone. */
	readonly greatest: bigint;
}

export interface World {
	readonly now: number;
	readonly slots: ReadonlyMap<string, Slot>;
	readonly newest: ReadonlyMap<string, bigint>;
	/** Event IDs by the age of their records. */
	readonly byAge: readonly string[];
}

export const nothing: World = { now: 0, slots: new Map(), newest: new Map(), byAge: [] };

export type Operation =
	| { readonly do: 'claim'; readonly ask: ClaimAsk }
	| { readonly do: 'settle'; readonly ask: Settle }
	| { readonly do: 'extend'; readonly ask: Extension }
	| { readonly do: 'advance'; readonly ask: Step }
	| { readonly do: 'reopen'; readonly ask: Reopening }
	| { readonly do: 'resolve'; readonly ask: Resolution };

export type Answer = Readonly<Record<string, unknown>>;

export interface Judged {
	readonly world: World;
	/** What is wrong with the answer; `null` where nothing is. */
	readonly fault: string | null;
}

/** One step on one record. No answer: it is unknown, and anything the reference says is right. */
export function judge(world: World, { do: what, ask }: Operation, answer: Answer | null): Judged {
	const slot = slotOf(world, ask.key);
	const at = momentOf(world);
	const outcome = {
		claim: () => claim(slot.record, ask as ClaimAsk, at),
		settle: () => settle(slot.record, ask as Settle, at),
		extend: () => extend(slot.record, ask as Extension, at),
		advance: () => advance(slot.record, ask as Step),
		reopen: () => reopen(slot.record, ask as Reopening, at),
		resolve: () => resolve(slot.record, ask as Resolution, at),
	}[what]();
	return carryOut(world, ask.key.eventId, outcome, answer);
}

/** A recovery that nobody else was in the way of: exactly these records, oldest first. */
export function judgeRecovery(world: World, search: RecoverySearch, found: readonly Recovered[]): Judged {
	const due = world.byAge.filter((id) => recover(recordOf(world, id), search, '', momentOf(world)) !== null).slice(0, search.limit);
	const ids = found.map(({ key }) => key.eventId);
	if (!isDeepStrictEqual(ids, due)) return { world, fault: `recovered ${ids.join(' ')}, but due were ${due.join(' ')}` };
	let judged: Judged = { world, fault: null };
	for (const one of found) {
		judged = judgeRecovered(judged.world, search, one);
		if (judged.fault !== null) return judged;
	}
	return judged;
}

/** One record that a recovery has touched. */
export function judgeRecovered(world: World, search: RecoverySearch, one: Recovered): Judged {
	if (one.owner !== null && !search.owners.includes(one.owner)) return { world, fault: `recovered with a token of its own` };
	const outcome = recover(recordOf(world, one.key.eventId), search, one.owner ?? '', momentOf(world));
	if (outcome === null) return { world, fault: `recovered ${one.key.eventId}, which was not due` };
	return carryOut(world, one.key.eventId, outcome, one as unknown as Answer);
}

export function passTime(world: World, ms: number): World {
	return { ...world, now: world.now + ms };
}

/** Retention: the record goes, its fences are not used again. */
export function remove(world: World, eventId: string): World {
	return withSlot({ ...world, byAge: world.byAge.filter((id) => id !== eventId) }, eventId, {
		record: null,
		greatest: slotOf(world, { eventId }).greatest,
	});
}

export function recordOf(world: World, eventId: string): Claim | null {
	return slotOf(world, { eventId }).record;
}

export function slotOf(world: World, { eventId }: Pick<EventKey, 'eventId'>): Slot {
	return world.slots.get(eventId) ?? { record: null, greatest: 0n };
}

export function withSlot(world: World, eventId: string, slot: Slot): World {
	return { ...world, slots: new Map(world.slots).set(eventId, slot) };
}

function carryOut(world: World, eventId: string, { answer: expected, after }: Outcome, answer: Answer | null): Judged {
	const before = slotOf(world, { eventId });
	const fault = answer === null ? null : difference(expected, answer, before);
	if (fault !== null) return { world, fault };
	const began = after !== null && after.fence === NEW;
	const told = after?.fence === UNKNOWN && typeof answer?.['fence'] === 'string';
	const fence = answer === null ? UNKNOWN : String(answer['fence']);
	const record = after !== null && (began || told) ? { ...after, fence } : after;
	const greatest = (began || told) && fence !== UNKNOWN ? BigInt(fence) : before.greatest;
	const byAge = before.record === null && record !== null ? [...world.byAge, eventId] : world.byAge;
	const done = record?.state === 'completed' && before.record?.state !== 'completed';
	const newest = done && record?.subject ? withVersion(world.newest, record.subject) : world.newest;
	return { world: withSlot({ ...world, byAge, newest }, eventId, { record, greatest }), fault: null };
}

function difference(expected: Answer, answer: Answer, { greatest }: Slot): string | null {
	for (const [field, value] of Object.entries(expected)) {
		const found = answer[field];
		if (field === 'fence' && (value === NEW || value === UNKNOWN)) {
			if (typeof found === 'string' && BigInt(found) > greatest) continue;
			return `fence: ${String(found)} for a new ownership after ${greatest}`;
		}
		if (field === 'retryAfterMs' && typeof value === 'number' && typeof found === 'number') {
			if (Math.abs(found - value) < CLOSE_MS) continue;
		}
		if (field === 'payload' && samePayload(value, found)) continue;
		if (!isDeepStrictEqual(found, value)) return `${field}: ${show(found)} instead of ${show(value)}`;
	}
	return null;
}

/** Schedules move in hours; what they really take is less than this, and so is the difference of two clocks. */
export const CLOSE_MS = 600_000;

export function samePayload(one: unknown, other: unknown): boolean {
	return show(one) === show(other);
}

export function show(value: unknown): string {
	return JSON.stringify(value, (_, part: unknown) =>
		part instanceof Uint8Array ? Buffer.from(part).toString('hex') : typeof part === 'bigint' ? `${part}` : part,
	);
}

function momentOf(world: World): Moment {
	return { now: world.now, newest: (subject) => (subject && world.newest.get(subject.key)) ?? null };
}

function withVersion(newest: ReadonlyMap<string, bigint>, { key, version }: Subject): ReadonlyMap<string, bigint> {
	const known = newest.get(key) ?? 0n;
	return new Map(newest).set(key, BigInt(version) > known ? BigInt(version) : known);
}
