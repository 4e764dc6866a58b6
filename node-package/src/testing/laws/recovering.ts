import assert from 'node:assert';
import type { Recovered } from '../../store/lifecycle';
import type { Settle, Store } from '../../store/store';
import type { Law, World } from '../world';
import {
	ask,
	behindBarrier,
	claimBriefly,
	claimOne,
	count,
	failure,
	handedOut,
	holdOpen,
	HOUR,
	key,
	newOwner,
	openMany,
	OURS,
	owned,
	search,
	settleOne,
	until,
} from './cast';

/** What nobody works on any more is handed out once more, or ends: nothing stays unfinished for ever. */
export const recovering: readonly Law[] = [
	{
		name: 'what is stale or due is handed out, oldest first; what is live, waits or has ended is not',
		hazard: 'T4, T11 by recovery',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const stale = ask(key(scope, 'stale'), { executionId: 'exec 1' });
			const lost = await claimBriefly(world, store, stale);
			await failOne(store, ask(key(scope, 'failed'), { executionId: 'exec 2' }), 0);
			await claimOne(store, ask(key(scope, 'live')));
			await failOne(store, ask(key(scope, 'waits')), HOUR);
			for (const to of [{ state: 'completed' }, { state: 'uncertain', error: 'x' }, { state: 'dead', error: 'x' }] as const) {
				const ended = ask(key(scope, to.state));
				await settleOne(store, ended, (await claimOne(store, ended)).fence, to);
			}

			const found = await store.recover(search({ scope, executionId: 'exec 3' }));
			assert.deepEqual(found.map(summary), [
				['stale', 'taken_over', 'processing', 2, 'exec 1', null],
				['failed', 'retried', 'processing', 2, 'exec 2', 'HTTP 503'],
			]);
			for (const one of found) {
				assert.deepEqual([one.eventType, one.payload, one.key.provider], ['invoice.paid', null, 'stripe']);
				assert.ok((one.leaseUntilMs ?? 0) > (await world.now()) + HOUR / 2);
				const record = await store.find(one.key);
				assert.deepEqual(
					[record?.owner, record?.fence, record?.executionId, record?.firstSeenAtMs],
					[one.owner, one.fence, 'exec 3', one.firstSeenAtMs],
				);
				const [end] = await store.settle([{ ...handedOut(one), to: { state: 'completed' } }]);
				assert.deepEqual(end, { verdict: 'settled', state: 'completed' });
			}
			assert.ok(BigInt(found[0]?.fence ?? 0) > BigInt(lost.fence ?? 0));
			assert.equal((await settleOne(store, stale, lost.fence, { state: 'completed' })).verdict, 'fenced_out');
			assert.deepEqual(await store.recover(search({ scope })), []);
		},
	},
	{
		name: 'a recovery finds what it is asked for: stale or failed, of a scope, of a provider, so many',
		hazard: 'recovery',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			for (const provider of ['stripe', 'github']) {
				await claimBriefly(world, store, ask(key(scope, `stale of ${provider}`, provider)));
				await failOne(store, ask(key(scope, `failed of ${provider}`, provider)), 0);
			}
			const ids = async (more: Parameters<typeof search>[0]): Promise<string[]> =>
				(await store.recover(search({ scope, ...more }))).map(({ key: { eventId } }) => eventId);
			assert.deepEqual(await ids({ scope: world.newScope() }), []);
			assert.deepEqual(await ids({ provider: 'shopify' }), []);
			assert.deepEqual(await ids({ provider: 'github', which: 'failed' }), ['failed of github']);
			assert.deepEqual(await ids({ which: 'stale', limit: 1 }), ['stale of stripe']);
			assert.deepEqual(await ids({ which: 'stale' }), ['stale of github']);
			assert.deepEqual(await ids({}), ['failed of stripe']);
			const refusals = [{ limit: 0 }, { owners: [] }, { owners: ['x'], limit: 1 }, { leaseMs: 0 }, { scope: '' }];
			for (const more of refusals) assert.equal((await failure(store.recover(search(more)))).code, 'store_refused_key');
		},
	},
	{
		name: 'many recoveries at once: each stale event is handed out by exactly one of them',
		hazard: 'H48',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 12);
			const store = stores[0] as Store;
			for (let round = 0; round < 4; round++) {
				const asks = Array.from({ length: 100 }, (_, n) => ask(key(scope, `evt_${round}_${n}`), { leaseMs: 1 }));
				const replies = await store.claim(asks);
				const last = Math.max(...replies.map(({ leaseUntilMs }) => leaseUntilMs ?? 0));
				await until(async () => (await world.now()) > last + 1);
				const found = await behindBarrier(
					stores.map((one) => async () => {
						const mine: Recovered[] = [];
						for (let tries = 0; tries < 3; tries++) mine.push(...(await one.recover(search({ scope, limit: 5 }))));
						return mine;
					}),
				);
				found.push(await store.recover(search({ scope })));
				const ids = found.flat().map(({ key: { eventId } }) => eventId);
				assert.equal(ids.length, 100, 'each once');
				assert.equal(new Set(ids).size, 100, 'and all of them');
				assert.equal(new Set(found.flat().map(({ fence }) => fence)).size, 100);
			}
		},
	},
	{
		name: 'recoveries and redeliveries of one stale event at once: one of them has it',
		hazard: 'T4',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 8);
			for (let round = 0; round < 25; round++) {
				const at = key(scope, `evt_${round}`);
				await claimBriefly(world, stores[0] as Store, ask(at));
				const answers = await behindBarrier(
					stores.map((store, n) => async () =>
						n % 2 === 0
							? (await store.recover(search({ scope, limit: 1 }))).map(({ verdict }) => verdict)
							: [(await claimOne(store, ask(at))).verdict],
					),
				);
				assert.equal(answers.flat().filter((verdict) => OURS.has(verdict)).length, 1, answers.join());
				assert.equal((await stores[0]?.find(at))?.attempt, 2);
			}
		},
	},
	{
		name: 'a recovery and an end that comes late at once: one of them wins, and the loser knows',
		hazard: 'H16, T7',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 2);
			const [one, other] = stores as [Store, Store];
			for (let round = 0; round < 40; round++) {
				const slow = ask(key(scope, `evt_${round}`));
				const { fence } = await claimBriefly(world, one, slow);
				const [end, found] = await Promise.all([
					settleOne(one, slow, fence, { state: 'completed' }),
					other.recover(search({ scope, limit: 1 })),
				]);
				const record = await one.find(slow.key);
				if (found.length === 1) {
					assert.equal(end.verdict, 'fenced_out');
					assert.deepEqual([record?.state, record?.fence], ['processing', found[0]?.fence]);
				} else {
					assert.deepEqual(end, { verdict: 'late', state: 'completed' });
					assert.equal(record?.fence, fence);
				}
			}
		},
	},
	{
		name: 'a recovery does not wait: what another one is at is left to it',
		hazard: 'H48',
		needs: ['open_transactions'],
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const busy = ask(key(scope, 'busy'));
			const receipt = owned(busy, (await claimBriefly(world, store, busy)).fence);
			await claimBriefly(world, store, ask(key(scope, 'free')));
			const rival = await holdOpen(world, []);
			await rival.store.extend([{ ...receipt, leaseMs: HOUR }]);
			const found = await store.recover(search({ scope }));
			assert.deepEqual(found.map(({ key: { eventId } }) => eventId), ['free']);
			await rival.rollback();
			assert.deepEqual((await store.recover(search({ scope }))).map(({ key: { eventId } }) => eventId), ['busy']);
		},
	},
	{
		name: 'whatever isolation an administrator has made the default, each is recovered, ended and reopened once',
		hazard: 'H9 of the lifecycle',
		needs: ['other_isolation'],
		async run(world) {
			for (const isolation of ['repeatable read', 'serializable'] as const) {
				const scope = world.newScope();
				const stores = await openMany(world, 4, { isolation });
				const asks = Array.from({ length: 40 }, (_, n) => ask(key(scope, `evt_${n}`), { leaseMs: 1 }));
				const last = Math.max(...(await (stores[0] as Store).claim(asks)).map(({ leaseUntilMs }) => leaseUntilMs ?? 0));
				await until(async () => (await world.now()) > last + 1);
				const found = await behindBarrier(stores.map((store) => async () => await store.recover(search({ scope, limit: 10 }))));
				const rest = await (stores[0] as Store).recover(search({ scope }));
				const all = [...found.flat(), ...rest].map(handedOut);
				assert.equal(new Set(all.map(({ key: { eventId } }) => eventId)).size, 40);
				assert.equal(all.length, 40);
				// Each asks for all of them: the first to come ends it.
				const ended = await behindBarrier(
					stores.map((store) => async () => await store.settle(all.map((one) => ({ ...one, to: { state: 'completed' } })))),
				);
				assert.deepEqual(count(ended.flat()), { settled: 40, already: 120 });
				const reopened = await behindBarrier(
					stores.map((store) => async () =>
						await store.reopen(
							all.map(({ key: at }) => ({ key: at, owner: newOwner(), reason: 'x', leaseMs: HOUR, executionId: null })),
						),
					),
				);
				assert.deepEqual(count(reopened.flat()), { reopened: 40, not_finished: 120 });
			}
		},
	},
	{
		name: 'hold: a stale event waits for a person, if the recovery or any claim of it says so',
		hazard: 'T5, H49',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			await claimBriefly(world, store, ask(key(scope, 'by the recovery')));
			const [held] = await store.recover(search({ scope, unfinished: 'hold' }));
			assert.ok(held);
			assert.deepEqual(summary(held), ['by the recovery', 'held', 'uncertain', 1, null, null]);
			assert.deepEqual([held.owner, held.fence, held.leaseUntilMs], [null, null, null]);

			await claimBriefly(world, store, ask(key(scope, 'by the claim'), { unfinished: 'hold' }));
			assert.deepEqual(count(await store.recover(search({ scope }))), { held: 1 });
			assert.equal((await claimOne(store, ask(key(scope, 'by the claim')))).verdict, 'uncertain');

			// By a redelivery that does not ask for it, and after a failure, a retry and a take-over.
			const again = ask(key(scope, 'again'), { unfinished: 'hold' });
			await failOne(store, again, 0);
			await claimBriefly(world, store, ask(again.key));
			assert.deepEqual(count([await claimOne(store, ask(again.key))]), { held: 1 });
			const retried = ask(key(scope, 'retried'), { unfinished: 'hold' });
			await failOne(store, retried, 0);
			assert.deepEqual(count(await store.recover(search({ scope, leaseMs: 1 }))), { retried: 1 });
			await untilOver(world, store, retried.key.eventId, scope);
			assert.deepEqual(count(await store.recover(search({ scope }))), { held: 1 });
		},
	},
	{
		name: 'hold comes before attempts that are used up: a person looks, and the business key stays taken',
		hazard: 'T5 before T6, H49',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const guards = [{ kind: 'business_key', key: 'order-1-paid' }] as const;
			const last = { unfinished: 'hold', maxAttempts: 1 } as const;
			await claimBriefly(world, store, ask(key(scope, 'recovered'), { ...last, guards }));
			assert.deepEqual((await store.recover(search({ scope }))).map(({ verdict, state }) => [verdict, state]), [['held', 'uncertain']]);
			const rival = await claimOne(store, ask(key(scope, 'rival'), { ...last, guards }));
			assert.deepEqual([rival.verdict, rival.matchedOn], ['business_duplicate', 'business_key']);

			await claimBriefly(world, store, ask(key(scope, 'held by the search'), { maxAttempts: 1 }));
			assert.deepEqual(count(await store.recover(search({ scope, unfinished: 'hold', maxAttempts: 1 }))), { held: 1 });

			// By a redelivery, whether the hold is its own or was the first one's.
			for (const [first, second] of [['hold', 'take_over'], ['take_over', 'hold']] as const) {
				const at = key(scope, `${first} and then ${second}`);
				await claimBriefly(world, store, ask(at, { unfinished: first, maxAttempts: 1 }));
				const reply = await claimOne(store, ask(at, { unfinished: second, maxAttempts: 1 }));
				assert.deepEqual([reply.verdict, reply.state], ['held', 'uncertain'], at.eventId);
			}

			// What failed was not interrupted: it has ended its last attempt, as somebody says now.
			const failed = ask(key(scope, 'failed'), { unfinished: 'hold' });
			await failOne(store, failed, 0);
			assert.deepEqual(count(await store.recover(search({ scope, maxAttempts: 1 }))), { exhausted: 1 });
		},
	},
	{
		name: 'attempts that are used up end in dead: as the claim was made, or as the recovery says',
		hazard: 'T6, H51',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			await claimBriefly(world, store, ask(key(scope, 'one'), { maxAttempts: 1 }));
			await claimBriefly(world, store, ask(key(scope, 'two'), { maxAttempts: 2 }));
			await failOne(store, ask(key(scope, 'five')), 0);
			const first = await store.recover(search({ scope, leaseMs: 1 }));
			assert.deepEqual(first.map(({ key: { eventId }, verdict, state, attempt }) => [eventId, verdict, state, attempt]), [
				['one', 'exhausted', 'dead', 1],
				['two', 'taken_over', 'processing', 2],
				['five', 'retried', 'processing', 2],
			]);
			await untilOver(world, store, 'five', scope);
			const second = await store.recover(search({ scope, maxAttempts: 2 }));
			assert.deepEqual(count(second), { exhausted: 2 });
			assert.deepEqual(await store.recover(search({ scope })), []);
			// An end that does not say how many goes by what the claim was made with.
			const last = ask(key(scope, 'last'), { maxAttempts: 1 });
			const to = { state: 'failed', error: 'x', retryAfterMs: 0, maxAttempts: null } as const;
			assert.equal((await settleOne(store, last, (await claimOne(store, last)).fence, to)).state, 'dead');
		},
	},
	{
		name: 'an event that crashes whoever has it is handed out so many times, and then ends',
		hazard: 'H51',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			await claimBriefly(world, store, ask(key(scope, 'poison'), { maxAttempts: 4 }));
			const verdicts: string[] = [];
			while (verdicts.at(-1) !== 'exhausted') {
				assert.ok(verdicts.length < 10, verdicts.join());
				verdicts.push(...(await store.recover(search({ scope, leaseMs: 1 }))).map(({ verdict }) => verdict));
				if (verdicts.at(-1) === 'taken_over') await untilOver(world, store, 'poison', scope);
			}
			assert.deepEqual(verdicts, ['taken_over', 'taken_over', 'taken_over', 'exhausted']);
		},
	},
	{
		name: 'a recovery whose answer is lost is an error, and what it took comes again when its lease is over',
		hazard: 'H2',
		needs: ['lost_answers'],
		async run(world) {
			const lossy = await world.openLossy?.();
			assert.ok(lossy);
			const scope = world.newScope();
			for (const id of ['a', 'b']) await claimBriefly(world, lossy.store, ask(key(scope, id)));
			lossy.loseAnswers(1);
			const error = await failure(lossy.store.recover(search({ scope, limit: 1, leaseMs: 1 })));
			assert.deepEqual([error.code, lossy.lost()], ['store_unavailable', 1]);
			await untilOver(world, lossy.store, 'a', scope);
			const found = await lossy.store.recover(search({ scope }));
			assert.deepEqual(found.map(({ key: { eventId }, attempt }) => [eventId, attempt]), [['a', 3], ['b', 2]]);
		},
	},
	{
		name: 'a failed claim that was resumed and is done is completed, unless somebody has taken it over',
		hazard: 'H50',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const resumed = { state: 'completed', result: 'done', resumed: true } as const;
			const mine = ask(key(scope, 'mine'));
			const fence = await failOne(store, mine, 0);
			assert.deepEqual(await settleOne(store, mine, fence, { state: 'completed' }), { verdict: 'fenced_out', state: 'failed' });
			assert.deepEqual(await settleOne(store, mine, fence, resumed), { verdict: 'settled', state: 'completed' });
			assert.deepEqual(await settleOne(store, mine, fence, resumed), { verdict: 'already', state: 'completed' });
			const record = await store.find(mine.key);
			assert.deepEqual([record?.result, record?.error, record?.nextAttemptAtMs], ['done', null, null]);

			const lost = ask(key(scope, 'lost'));
			const old = await failOne(store, lost, 0);
			assert.deepEqual(count(await store.recover(search({ scope }))), { retried: 1 });
			assert.equal((await settleOne(store, lost, old, resumed)).verdict, 'fenced_out');
			const held = ask(key(scope, 'held'));
			const at = await claimOne(store, held);
			await settleOne(store, held, at.fence, { state: 'uncertain', error: 'x' });
			assert.equal((await settleOne(store, held, at.fence, resumed)).verdict, 'fenced_out');
		},
	},
	{
		name: 'the wait after a failure grows with the attempts, up to its cap, and is drawn at random',
		hazard: 'H52',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const backoff = { baseMs: 10_000, capMs: 25_000 };
			for (const [attempt, cap] of [[1, 10_000], [2, 20_000], [3, 25_000]] as const) {
				const asks = Array.from({ length: 40 }, (_, n) => ask(key(scope, `${attempt}_${n}`)));
				let fences = (await store.claim(asks)).map(({ fence }) => fence as string);
				for (let n = 1; n < attempt; n++) {
					await store.settle(ends(asks, fences, { state: 'failed', error: 'x', retryAfterMs: 0, maxAttempts: 9 }));
					fences = (await store.claim(asks)).map(({ fence }) => fence as string);
				}
				const began = await world.now();
				await store.settle(ends(asks, fences, { state: 'failed', error: 'x', retryAfterMs: backoff, maxAttempts: 9 }));
				const ended = await world.now();
				const dues = await Promise.all(asks.map(async (one) => (await store.find(one.key))?.nextAttemptAtMs ?? 0));
				const [least, most] = [Math.min(...dues), Math.max(...dues)];
				assert.ok(least >= began - 1 && most <= ended + cap + 1, `${least - began} to ${most - ended} of ${cap}`);
				// 40 draws all in the lower or all in the upper half: once in a trillion runs.
				assert.ok(least < ended + cap / 2 && most > began + cap / 2, `${least - began} to ${most - ended} of ${cap}`);
			}
		},
	},
];

function summary({ key: { eventId }, verdict, state, attempt, executionIdBefore, error }: Recovered): unknown[] {
	return [eventId, verdict, state, attempt, executionIdBefore, error];
}

/** Claims and fails it; gives the fence. */
async function failOne(store: Store, wanted: ReturnType<typeof ask>, retryAfterMs: number): Promise<string> {
	const { fence } = await claimOne(store, wanted);
	const end = await settleOne(store, wanted, fence, { state: 'failed', error: 'HTTP 503', retryAfterMs, maxAttempts: 5 });
	assert.equal(end.state, 'failed');
	return fence as string;
}

function ends(asks: ReadonlyArray<ReturnType<typeof ask>>, fences: readonly string[], to: Settle['to']): Settle[] {
	return asks.map(({ key: at, owner }, n) => ({ key: at, owner, fence: fences[n] as string, to }));
}

async function untilOver(world: World, store: Store, eventId: string, scope: string): Promise<void> {
	const record = await store.find(key(scope, eventId));
	await until(async () => (await world.now()) > (record?.leaseUntilMs ?? 0) + 1);
}
