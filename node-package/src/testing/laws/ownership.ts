import assert from 'node:assert';
import type { Store } from '../../store/store';
import type { Law } from '../world';
import {
	ask,
	behindBarrier,
	claimBriefly,
	claimOne,
	count,
	holdOpen,
	HOUR,
	key,
	newOwner,
	openMany,
	settleOne,
	until,
	untilWaiting,
} from './cast';
import { message } from './messages';

/** Who owns an event, until when, and who may end it: the transitions of the state machine and their fences. */
export const ownership: readonly Law[] = [
	{
		name: 'a live lease is respected, a lease that is over is taken over by exactly one of 40',
		hazard: 'H15, T3, T4',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 40);
			const store = stores[0] as Store;
			assert.equal((await claimOne(store, ask(key(scope, 'live')))).verdict, 'claimed');
			assert.equal((await claimOne(store, ask(key(scope, 'live')))).verdict, 'in_progress');

			for (let round = 0; round < 10; round++) {
				const at = key(scope, `over_${round}`);
				const first = await claimBriefly(world, store, ask(at));
				const replies = await behindBarrier(stores.map((one) => async () => await claimOne(one, ask(at))));
				assert.deepEqual(count(replies), { taken_over: 1, in_progress: 39 });
				const winner = replies.find(({ verdict }) => verdict === 'taken_over');
				assert.equal(winner?.attempt, 2);
				assert.ok(BigInt(winner?.fence ?? 0) > BigInt(first.fence ?? 0));
				assert.equal(winner?.firstSeenAtMs, first.firstSeenAtMs);
			}
		},
	},
	{
		name: 'an owner that lost its claim ends nothing, whatever end it wants',
		hazard: 'H16',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const ends = [
				{ state: 'completed', result: 'zombie' },
				{ state: 'failed', error: 'zombie', retryAfterMs: 0, maxAttempts: 5 },
				{ state: 'uncertain', error: 'zombie' },
				{ state: 'dead', error: 'zombie' },
			] as const;
			for (const to of ends) {
				const zombie = ask(key(scope, to.state));
				const lost = await claimBriefly(world, store, zombie);
				const owner = ask(zombie.key);
				const taken = await claimOne(store, owner);
				assert.equal(taken.verdict, 'taken_over');
				const refused = await settleOne(store, zombie, lost.fence, to);
				assert.deepEqual(refused, { verdict: 'fenced_out', state: 'processing' });
				// Half a receipt is none: the new fence with the old token, and the other way round.
				assert.equal((await settleOne(store, zombie, taken.fence, to)).verdict, 'fenced_out');
				assert.equal((await settleOne(store, owner, lost.fence, to)).verdict, 'fenced_out');
				assert.equal((await store.find(owner.key))?.error, null);
				const done = await settleOne(store, owner, taken.fence, { state: 'completed', result: 'owner' });
				assert.deepEqual(done, { verdict: 'settled', state: 'completed' });
				assert.equal((await store.find(owner.key))?.result, 'owner');
			}
			const nothing = ask(key(scope, 'never claimed'));
			const reply = await settleOne(store, nothing, '1', { state: 'completed' });
			assert.deepEqual(reply, { verdict: 'fenced_out', state: null });
		},
	},
	{
		name: 'taking over and settling at the same moment: exactly one of them has it',
		hazard: 'H16',
		async run(world) {
			const scope = world.newScope();
			const [mine, theirs] = (await openMany(world, 2)) as [Store, Store];
			for (let round = 0; round < 60; round++) {
				const owned = ask(key(scope, `evt_${round}`));
				const { fence } = await claimBriefly(world, mine, owned);
				const [end, claim] = await Promise.all([
					settleOne(mine, owned, fence, { state: 'completed' }),
					claimOne(theirs, ask(owned.key)),
				]);
				const outcome = `${end.verdict} ${claim.verdict}`;
				assert.ok(['late completed', 'fenced_out taken_over'].includes(outcome), outcome);
			}
		},
	},
	{
		name: 'an owner that waited for whoever took over is told what that one made of the event',
		hazard: 'H16',
		needs: ['open_transactions'],
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			for (const [id, outbox] of [['plain', []], ['with a message', [message(scope, 'never')]]] as const) {
				const zombie = ask(key(scope, id));
				const { fence } = await claimBriefly(world, store, zombie);
				const taking = await holdOpen(world, [ask(zombie.key, { unfinished: 'complete_on_claim' })]);
				const end = settleOne(store, zombie, fence, { state: 'completed', result: 'zombie', outbox });
				await untilWaiting(world, 1);
				await taking.commit();
				assert.deepEqual(await end, { verdict: 'fenced_out', state: 'completed' }, id);
				assert.equal((await store.find(zombie.key))?.result, null);
			}
		},
	},
	{
		name: 'the fence grows with every ownership, also when the record was deleted in between',
		hazard: 'H18',
		needs: ['deletion'],
		async run(world) {
			const at = key(world.newScope(), 'evt_1');
			const store = await world.open();
			let last = 0n;
			for (let round = 0; round < 6; round++) {
				const { fence } = round % 2 === 0 ? await claimBriefly(world, store, ask(at)) : await claimOne(store, ask(at));
				assert.ok(BigInt(fence ?? 0) > last, `${fence} after ${last}`);
				last = BigInt(fence ?? 0);
				if (round % 2 === 1) await world.remove?.(at);
			}
			const zombie = ask(at, { owner: newOwner() });
			const { fence } = await claimOne(store, zombie);
			await world.remove?.(at);
			const owner = ask(at);
			await claimOne(store, owner);
			assert.equal((await settleOne(store, zombie, fence, { state: 'completed' })).verdict, 'fenced_out');
		},
	},
	{
		name: "only the store's clock counts, not the caller's",
		hazard: 'H19',
		async run(world) {
			const at = key(world.newScope(), 'evt_1');
			const store = await world.open();
			await claimOne(store, ask(at, { leaseMs: HOUR }));
			const real = Date.now;
			try {
				for (const skew of [-24 * HOUR, 24 * HOUR]) {
					Date.now = () => real() + skew;
					const reply = await claimOne(store, ask(at));
					assert.equal(reply.verdict, 'in_progress');
					assert.ok(Math.abs((reply.retryAfterMs ?? 0) - HOUR) < HOUR / 2, `${reply.retryAfterMs}`);
				}
			} finally {
				Date.now = real;
			}
		},
	},
	{
		name: 'a lease begins when the claim is made, not when the wait for it began',
		hazard: 'H19',
		needs: ['open_transactions'],
		async run(world) {
			const at = key(world.newScope(), 'evt_1');
			const [store] = await openMany(world, 1);
			const rival = await holdOpen(world, [ask(at)]);
			const waiting = claimOne(store as Store, ask(at, { leaseMs: 5000 }));
			await untilWaiting(world, 1);
			const began = await world.now();
			await until(async () => (await world.now()) > began + 400);
			const ended = await world.now();
			await rival.rollback();
			const { verdict, leaseUntilMs } = await waiting;
			assert.equal(verdict, 'claimed');
			// A lease may be born a little short, but not by the wait.
			assert.ok((leaseUntilMs ?? 0) >= ended + 4750, `${leaseUntilMs} for a wait that ended at ${ended}`);
		},
	},
	{
		name: 'the same owner has the same claim again, with a new lease and the same fence',
		hazard: 'T2',
		async run(world) {
			const owned = ask(key(world.newScope(), 'evt_1'), { leaseMs: 60_000 });
			const store = await world.open();
			const first = await claimOne(store, owned);
			const again = await claimOne(store, { ...owned, leaseMs: HOUR });
			assert.deepEqual([again.verdict, again.fence, again.attempt], ['reentrant', first.fence, 1]);
			assert.ok((again.leaseUntilMs ?? 0) > (first.leaseUntilMs ?? 0));
			assert.equal((await claimOne(store, ask(owned.key))).verdict, 'in_progress');
		},
	},
	{
		name: 'an owner whose lease is over has its claim again, if nobody took it over',
		hazard: 'T2',
		async run(world) {
			const owned = ask(key(world.newScope(), 'evt_1'));
			const store = await world.open();
			const first = await claimBriefly(world, store, owned);
			const again = await claimOne(store, owned);
			assert.deepEqual([again.verdict, again.fence], ['reentrant', first.fence]);
		},
	},
	{
		name: 'complete on claim: done at once, no lease, and the same owner still has it again',
		hazard: 'T2',
		async run(world) {
			const owned = ask(key(world.newScope(), 'evt_1'), { unfinished: 'complete_on_claim' });
			const store = await world.open();
			const first = await claimOne(store, owned);
			assert.deepEqual([first.verdict, first.state, first.leaseUntilMs], ['claimed', 'completed', null]);
			assert.ok((first.completedAtMs ?? 0) >= first.firstSeenAtMs);
			const again = await claimOne(store, owned);
			assert.deepEqual([again.verdict, again.state, again.fence], ['reentrant', 'completed', first.fence]);
			assert.equal((await claimOne(store, ask(owned.key))).verdict, 'completed');
			const end = await settleOne(store, owned, first.fence, { state: 'completed' });
			assert.deepEqual(end, { verdict: 'already', state: 'completed' });
		},
	},
	{
		name: 'hold: a claim whose lease is over waits for a person, and says so to everybody',
		hazard: 'T5',
		async run(world) {
			const owned = ask(key(world.newScope(), 'evt_1'));
			const store = await world.open();
			const { fence } = await claimBriefly(world, store, owned);
			const held = await claimOne(store, ask(owned.key, { unfinished: 'hold' }));
			assert.deepEqual([held.verdict, held.state, held.fence, held.retryAfterMs], ['held', 'uncertain', null, null]);
			assert.equal((await claimOne(store, ask(owned.key))).verdict, 'uncertain');
			const end = await settleOne(store, owned, fence, { state: 'completed' });
			assert.deepEqual(end, { verdict: 'fenced_out', state: 'uncertain' });
		},
	},
	{
		name: 'attempts that are used up end in dead, for good',
		hazard: 'T6',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const abandoned = ask(key(scope, 'abandoned'), { maxAttempts: 2 });
			await claimBriefly(world, store, abandoned);
			const second = await claimBriefly(world, store, { ...abandoned, owner: newOwner() });
			assert.deepEqual([second.verdict, second.attempt], ['taken_over', 2]);
			const third = await claimOne(store, { ...abandoned, owner: newOwner() });
			assert.deepEqual([third.verdict, third.state, third.attempt], ['exhausted', 'dead', 2]);
			assert.equal((await claimOne(store, ask(abandoned.key))).verdict, 'dead');
		},
	},
	{
		name: 'settling: done, done late, done already',
		hazard: 'T7',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const quick = ask(key(scope, 'quick'));
			const { fence } = await claimOne(store, quick);
			const result = { charge: 'ch_1', amount: '12345678901234567890', nested: [null, true, '{}'] };
			const to = { state: 'completed', result } as const;
			assert.deepEqual(await settleOne(store, quick, fence, to), { verdict: 'settled', state: 'completed' });
			assert.deepEqual(await settleOne(store, quick, fence, to), { verdict: 'already', state: 'completed' });
			const other = await settleOne(store, quick, fence, { state: 'dead', error: 'no' });
			assert.deepEqual(other, { verdict: 'fenced_out', state: 'completed' });
			const duplicate = await claimOne(store, ask(quick.key));
			assert.deepEqual([duplicate.verdict, duplicate.result], ['completed', result]);
			assert.deepEqual([duplicate.retryAfterMs, duplicate.leaseUntilMs], [null, null]);

			const slow = ask(key(scope, 'slow'));
			const late = await claimBriefly(world, store, slow);
			const end = await settleOne(store, slow, late.fence, { state: 'completed' });
			assert.deepEqual(end, { verdict: 'late', state: 'completed' });
		},
	},
	{
		name: 'a failed event comes back when its backoff is over, and not before',
		hazard: 'T8, T11, T12',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const first = ask(key(scope, 'evt_1'));
			const { fence } = await claimOne(store, first);
			const failed = { state: 'failed', error: 'HTTP 503', maxAttempts: 3 } as const;
			await settleOne(store, first, fence, { ...failed, retryAfterMs: HOUR });
			const early = await claimOne(store, ask(first.key));
			assert.deepEqual([early.verdict, early.state], ['backoff', 'failed']);
			assert.ok((early.retryAfterMs ?? 0) > HOUR / 2 && (early.retryAfterMs ?? 0) <= HOUR);
			assert.equal((await store.find(first.key))?.error, 'HTTP 503');

			const due = ask(key(scope, 'evt_2'));
			await settleOne(store, due, (await claimOne(store, due)).fence, { ...failed, retryAfterMs: 0 });
			const second = ask(due.key);
			const retried = await claimOne(store, second);
			assert.deepEqual([retried.verdict, retried.state, retried.attempt], ['retried', 'processing', 2]);
			assert.equal((await settleOne(store, due, retried.fence, { state: 'completed' })).verdict, 'fenced_out');
		},
	},
	{
		name: 'a failure without attempts left, or for good, is dead; an unknown outcome is uncertain',
		hazard: 'T8, T9, T10',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const ends = [
				[{ state: 'failed', error: 'x', retryAfterMs: 0, maxAttempts: 1 }, 'dead'],
				[{ state: 'dead', error: 'x' }, 'dead'],
				[{ state: 'uncertain', error: 'x' }, 'uncertain'],
			] as const;
			for (const [n, [to, state]] of ends.entries()) {
				const owned = ask(key(scope, `evt_${n}`));
				const { fence } = await claimOne(store, owned);
				assert.deepEqual(await settleOne(store, owned, fence, to), { verdict: 'settled', state });
				assert.deepEqual(await settleOne(store, owned, fence, to), { verdict: 'already', state });
				assert.equal((await claimOne(store, ask(owned.key))).verdict, state);
			}
		},
	},
	{
		name: 'the same owner settles twice at once: one settles, the other learns it',
		hazard: 'T7',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 8);
			for (let round = 0; round < 20; round++) {
				const owned = ask(key(scope, `evt_${round}`));
				const { fence } = await claimOne(stores[0] as Store, owned);
				const ends = await behindBarrier(
					stores.map((store) => async () => await settleOne(store, owned, fence, { state: 'completed' })),
				);
				assert.deepEqual(count(ends), { settled: 1, already: 7 });
			}
		},
	},
	{
		name: 'two scopes and two providers each get the event',
		hazard: 'H21',
		async run(world) {
			const [one, other] = [world.newScope(), world.newScope()];
			const store = await world.open();
			const keys = [key(one, 'evt_1'), key(other, 'evt_1'), key(one, 'evt_1', 'github'), key(other, 'evt_1', 'github')];
			assert.deepEqual(count(await store.claim(keys.map((at) => ask(at)))), { claimed: 4 });
			assert.deepEqual(count(await store.claim(keys.map((at) => ask(at)))), { in_progress: 4 });
		},
	},
];
