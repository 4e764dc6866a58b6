import assert from 'node:assert';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../../errors';
import type { Ownership, Recovered, RecoverySearch } from '../../store/lifecycle';
import type { ClaimAsk, EventKey, Settle, SettleReply, Store, StoreReply } from '../../store/store';
import type { OpenOptions, OpenTransaction, World } from '../world';

/** Verdicts by which the asker has the event. */
export const OURS: ReadonlySet<string> = new Set(['claimed', 'reentrant', 'retried', 'taken_over']);
export const HOUR = 3_600_000;

export function newOwner(): string {
	return randomBytes(16).toString('hex');
}

export function key(scope: string, eventId: string, provider = 'stripe'): EventKey {
	return { scope, provider, eventId };
}

export function ask(at: EventKey, more: Partial<ClaimAsk> = {}): ClaimAsk {
	return {
		key: at,
		eventType: 'invoice.paid',
		owner: newOwner(),
		bodyDigest: null,
		leaseMs: HOUR,
		maxAttempts: 5,
		unfinished: 'take_over',
		payloadChanged: 'duplicate',
		guards: [],
		executionId: null,
		...more,
	};
}

export async function claimOne(store: Store, wanted: ClaimAsk): Promise<StoreReply> {
	const replies = await store.claim([wanted]);
	assert.equal(replies.length, 1, 'one reply per ask');
	return replies[0] as StoreReply;
}

/** Claims with a lease that is over by the store's clock when this returns. */
export async function claimBriefly(world: World, store: Store, wanted: ClaimAsk): Promise<StoreReply> {
	const reply = await claimOne(store, { ...wanted, leaseMs: 1 });
	await until(async () => (await world.now()) > (reply.leaseUntilMs ?? 0) + 1);
	return reply;
}

export async function settleOne(store: Store, owned: ClaimAsk, fence: string | null, to: Settle['to']): Promise<SettleReply> {
	assert.ok(fence !== null, 'a claim that is ours has a fence');
	const [reply] = await store.settle([{ key: owned.key, owner: owned.owner, fence, to }]);
	assert.ok(reply, 'one reply per end');
	return reply;
}

/** The receipt for a claim that is ours. */
export function owned({ key: at, owner }: ClaimAsk, fence: string | null): Ownership {
	assert.ok(fence !== null, 'a claim that is ours has a fence');
	return { key: at, owner, fence };
}

export function search(more: Partial<RecoverySearch> = {}): RecoverySearch {
	const { limit = 100 } = more;
	const owners = Array.from({ length: limit }, newOwner);
	const anywhere = { scope: null, provider: null } as const;
	return {
		...{ which: 'both', limit, owners, ...anywhere, leaseMs: HOUR, maxAttempts: null, unfinished: 'take_over' },
		executionId: null,
		...more,
	};
}

/** The receipt for what a recovery has handed out. */
export function handedOut({ key: at, owner, fence }: Recovered): Ownership {
	assert.ok(owner !== null && fence !== null, 'what is handed out has an owner and a fence');
	return { key: at, owner, fence };
}

/** Number of the last letter there is. */
export async function newestLetter(store: Store): Promise<string> {
	let after = '0';
	for (;;) {
		const letters = await store.deadLetters({ after, missing: [], limit: 1000 });
		const last = letters.at(-1);
		if (!last) return after;
		after = last.id;
	}
}

/** Runs all at once: each is ready before any may go. */
export async function behindBarrier<T>(runners: ReadonlyArray<() => Promise<T>>): Promise<T[]> {
	let open: () => void = () => {};
	const barrier = new Promise<void>((resolve) => (open = resolve));
	const running = runners.map(async (run) => {
		await barrier;
		return await run();
	});
	open();
	return await Promise.all(running);
}

/** Clients whose connections are open already, so that a race is between claims and not between handshakes. */
export async function openMany(world: World, count: number, options: OpenOptions = {}): Promise<Store[]> {
	const stores = await Promise.all(Array.from({ length: count }, async () => await world.open(options)));
	await Promise.all(stores.map(async (store) => await store.find(key('warm', 'up'))));
	return stores;
}

export async function holdOpen(world: World, asks: readonly ClaimAsk[]): Promise<OpenTransaction> {
	assert.ok(world.holdOpen);
	return await world.holdOpen(asks);
}

/** Until so many clients wait for an open transaction: proof that they have come that far. */
export async function untilWaiting(world: World, count: number): Promise<void> {
	await until(async () => ((await world.waiting?.()) ?? 0) >= count);
}

/** Polls: the condition is the proof, the pause between two looks is not. */
export async function until(condition: () => Promise<boolean>, withinMs = 20_000): Promise<void> {
	const deadline = performance.now() + withinMs;
	while (!(await condition())) {
		assert.ok(performance.now() < deadline, `it did not happen within ${withinMs} ms`);
		await delay(5);
	}
}

export async function failure(promise: Promise<unknown>): Promise<StoreError> {
	try {
		await promise;
	} catch (error) {
		if (error instanceof StoreError) return error;
		throw error;
	}
	assert.fail('an error was expected, and there was an answer');
}

/** Repeatable randomness: the seed is in the law's message when it fails. */
export function dice(seed: number): (sides: number) => number {
	let state = seed >>> 0;
	return (sides) => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
	};
}

export function shuffled<T>(items: readonly T[], roll: (sides: number) => number): T[] {
	const result = [...items];
	for (let last = result.length - 1; last > 0; last--) {
		const other = roll(last + 1);
		[result[last], result[other]] = [result[other] as T, result[last] as T];
	}
	return result;
}

export function count(verdicts: ReadonlyArray<{ readonly verdict: string }>): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { verdict } of verdicts) counts[verdict] = (counts[verdict] ?? 0) + 1;
	return counts;
}
