import assert from 'node:assert';
import type { ClaimAsk, EventKey, Guard, Store, StoreReply } from '../../store/store';
import type { Law } from '../world';
import {
	ask,
	behindBarrier,
	claimBriefly,
	claimOne,
	count,
	dice,
	holdOpen,
	key,
	newOwner,
	OURS,
	openMany,
	settleOne,
	untilWaiting,
} from './cast';

/** A second key, claimed together with the event or not at all. */
export const guards: readonly Law[] = [
	{
		name: 'another event with the same business key is told who has it, and leaves no trace',
		hazard: 'H31b, H55',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const holder = ask(key(scope, 'first'), { guards: [business('order:1')], executionId: 'holder' });
			const { fence } = await claimOne(store, holder);
			const rival = ask(key(scope, 'second'), { guards: [business('order:1')] });
			const early = await claimOne(store, rival);
			assert.deepEqual(
				[early.verdict, early.matchedOn, early.state, early.fence, early.claimedBy.executionId],
				['business_duplicate', 'business_key', 'processing', null, 'holder'],
			);
			assert.ok((early.retryAfterMs ?? 0) > 0);
			await settleOne(store, holder, fence, { state: 'completed', result: 'paid' });
			const late = await claimOne(store, rival);
			assert.deepEqual([late.verdict, late.state, late.result], ['business_duplicate', 'completed', 'paid']);
			assert.equal(await store.find(rival.key), null);
			// The event itself comes first: its own redelivery is its own duplicate.
			const redelivery = await claimOne(store, ask(holder.key, { guards: [business('order:1')] }));
			assert.deepEqual([redelivery.verdict, redelivery.matchedOn], ['completed', 'event_id']);
		},
	},
	{
		name: 'thousands of guarded asks in one call are answered before a caller loses patience',
		hazard: 'H10',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open({ patienceMs: 10_000 });
			const asks = Array.from({ length: 6_000 }, (_, n) =>
				ask(key(scope, `evt_${n}`), {
					guards: [
						business(`order:${n >> 1}`),
						{ kind: 'body_digest', key: `sha256:${n.toString(16).padStart(64, '0')}` },
					],
				}),
			);
			const verdicts = (await store.claim(asks)).map(({ verdict }) => verdict);
			// Two events stand for each order: the first is claimed, and the second knows it.
			assert.deepEqual(verdicts, asks.map((_, n) => (n % 2 === 0 ? 'claimed' : 'business_duplicate')));
		},
	},
	{
		name: 'a business key is unique in its scope, a body digest in scope and provider',
		hazard: 'H21, H56',
		async run(world) {
			const [scope, elsewhere] = [world.newScope(), world.newScope()];
			const store = await world.open();
			const verdicts: string[] = [];
			for (const [at, guard] of [
				[key(scope, '1'), business('x')],
				[key(scope, '2', 'github'), business('x')],
				[key(elsewhere, '1'), business('x')],
				[key(scope, '3'), body('a')],
				[key(scope, '4', 'github'), body('a')],
				[key(scope, '5'), body('a')],
				[key(elsewhere, '3'), body('a')],
				[key(scope, '6'), business(`sha256:${'a'.repeat(64)}`)],
			] as const) {
				verdicts.push((await claimOne(store, ask(at, { guards: [guard] }))).verdict);
			}
			const expected = ['claimed', 'business_duplicate', 'claimed', 'claimed', 'claimed', 'body_duplicate', 'claimed', 'claimed'];
			assert.deepEqual(verdicts, expected);
		},
	},
	{
		name: 'with two guards it is both or neither',
		hazard: 'all or nothing',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			await claimOne(store, ask(key(scope, '1'), { guards: [business('taken')] }));
			const both = [body('b'), business('taken')];
			assert.equal((await claimOne(store, ask(key(scope, '2'), { guards: both }))).verdict, 'business_duplicate');
			assert.equal((await claimOne(store, ask(key(scope, '3'), { guards: [body('b')] }))).verdict, 'claimed');
			// Now both are taken, by different events.
			assert.equal((await claimOne(store, ask(key(scope, '4'), { guards: both }))).verdict, 'body_duplicate');
			assert.deepEqual([await store.find(key(scope, '2')), await store.find(key(scope, '4'))], [null, null]);
		},
	},
	{
		name: 'two events with one guard in one call: the first has it',
		hazard: 'H10, H31b',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const asks = ['1', '2', '3'].map((id) => ask(key(scope, id), { guards: [body('a'), business('x')] }));
			const replies = await store.claim([...asks, ask(key(scope, '4'))]);
			assert.deepEqual(
				replies.map(({ verdict }) => verdict),
				['claimed', 'body_duplicate', 'body_duplicate', 'claimed'],
			);
		},
	},
	{
		name: 'many events race for one guard: one has it, the others leave no trace',
		hazard: 'H1, H31b',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 20);
			for (let round = 0; round < 15; round++) {
				const asks = stores.map((_, n) => ask(key(scope, `${round}_${n}`), { guards: [business(`order:${round}`)] }));
				const replies = await race(stores, asks);
				assert.deepEqual(count(replies), { claimed: 1, business_duplicate: 19 });
				await leftNoTrace(stores[0] as Store, asks, replies);
			}
		},
	},
	{
		name: 'random events with random pairs of guards, in random batches: no guard has two holders',
		hazard: 'H11, H31b',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 12);
			const won: ClaimAsk[] = [];
			const lost: ClaimAsk[] = [];
			await behindBarrier(
				stores.map((store, seed) => async () => {
					const roll = dice(seed + 100);
					for (let round = 0; round < 12; round++) {
						const batch = Array.from({ length: 6 }, (_, n) => {
							const pair = [business(`fact ${roll(40)}`), body('0123456789abcdef'[roll(16)] as string)];
							return ask(key(scope, `${seed}_${round}_${n}`), { guards: roll(2) === 0 ? pair : pair.reverse() });
						});
						for (const [n, { verdict }] of (await store.claim(batch)).entries()) {
							(OURS.has(verdict) ? won : lost).push(batch[n] as ClaimAsk);
						}
					}
				}),
			);
			const holders = new Map<string, string>();
			for (const { key: at, guards: pair } of won) {
				for (const guard of pair) {
					const name = `${guard.kind} ${guard.key}`;
					assert.equal(holders.get(name), undefined, `${name} is held by ${holders.get(name)} and ${at.eventId}`);
					holders.set(name, at.eventId);
				}
			}
			const store = stores[0] as Store;
			for (const { key: at, guards: pair } of lost) {
				assert.equal(await store.find(at), null);
				assert.ok(pair.some((guard) => holders.has(`${guard.kind} ${guard.key}`)), 'it lost to a holder, not to nobody');
			}
		},
	},
	{
		name: 'a rival takes the event while its guard is being written: the guard stays free',
		hazard: 'guard without its event',
		needs: ['open_transactions'],
		async run(world) {
			const scope = world.newScope();
			const [store] = (await openMany(world, 1)) as [Store];
			for (const end of ['commit', 'rollback'] as const) {
				const at = key(scope, end);
				const rival = await holdOpen(world, [ask(at)]);
				const waiting = claimOne(store, ask(at, { guards: [business(end)] }));
				await untilWaiting(world, 1);
				await rival[end]();
				assert.equal((await waiting).verdict, end === 'commit' ? 'in_progress' : 'claimed');
				const next = await claimOne(store, ask(key(scope, `${end} next`), { guards: [business(end)] }));
				assert.equal(next.verdict, end === 'commit' ? 'claimed' : 'business_duplicate');
			}
		},
	},
	{
		name: 'a rival takes the second of two guards: the first stays free',
		hazard: 'half the guards',
		needs: ['open_transactions'],
		async run(world) {
			const scope = world.newScope();
			const [store] = (await openMany(world, 1)) as [Store];
			for (const guard of [business('x'), body('a')]) {
				const id = guard.kind;
				const other = guard.kind === 'business_key' ? body('b') : business('y');
				const rival = await holdOpen(world, [ask(key(scope, `${id} rival`), { guards: [guard] })]);
				const waiting = claimOne(store, ask(key(scope, id), { guards: [other, guard] }));
				await untilWaiting(world, 1);
				await rival.commit();
				const reply = await waiting;
				assert.equal(reply.verdict, guard.kind === 'business_key' ? 'business_duplicate' : 'body_duplicate');
				assert.equal(await store.find(key(scope, id)), null);
				assert.equal((await claimOne(store, ask(key(scope, `${id} next`), { guards: [other] }))).verdict, 'claimed');
			}
		},
	},
	{
		name: 'a dead holder lets its guards go: settled dead, attempts used up, or found exhausted',
		hazard: 'T6, T9',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const deaths: Record<string, (holder: ClaimAsk) => Promise<unknown>> = {
				dead: async (holder) =>
					await settleOne(store, holder, (await claimOne(store, holder)).fence, { state: 'dead', error: 'x' }),
				failed: async (holder) => {
					const to = { state: 'failed', error: 'x', retryAfterMs: 0, maxAttempts: 1 } as const;
					await settleOne(store, holder, (await claimOne(store, holder)).fence, to);
				},
				exhausted: async (holder) => {
					await claimBriefly(world, store, { ...holder, maxAttempts: 1 });
					const reply = await claimOne(store, { ...holder, owner: newOwner(), maxAttempts: 1 });
					assert.equal(reply.verdict, 'exhausted');
				},
			};
			for (const [how, die] of Object.entries(deaths)) {
				const guard = business(how);
				await die(ask(key(scope, how), { guards: [guard] }));
				const heir = ask(key(scope, `${how} heir`), { guards: [guard] });
				assert.equal((await claimOne(store, heir)).verdict, 'claimed', how);
				assert.equal((await claimOne(store, ask(key(scope, `${how} third`), { guards: [guard] }))).verdict, 'business_duplicate');
			}
		},
	},
	{
		name: 'a failed, uncertain or abandoned holder keeps its guards, and gets the event back with them',
		hazard: 'T4, T5, T8, T11',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const failed = ask(key(scope, 'failed'), { guards: [business('failed'), body('f')] });
			const to = { state: 'failed', error: 'x', retryAfterMs: 0, maxAttempts: 5 } as const;
			await settleOne(store, failed, (await claimOne(store, failed)).fence, to);
			const abandoned = ask(key(scope, 'abandoned'), { guards: [business('abandoned'), body('a')] });
			await claimBriefly(world, store, abandoned);
			for (const [holder, verdict] of [
				[failed, 'retried'],
				[abandoned, 'taken_over'],
			] as const) {
				const rival = ask(key(scope, `${verdict} rival`), { guards: holder.guards });
				assert.equal((await claimOne(store, rival)).verdict, 'business_duplicate');
				const back = await claimOne(store, { ...holder, owner: newOwner() });
				assert.deepEqual([back.verdict, back.attempt], [verdict, 2]);
				assert.equal((await claimOne(store, rival)).verdict, 'business_duplicate');
			}
		},
	},
	{
		name: 'an event that comes back with another guard needs that one too',
		hazard: 'all or nothing',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			await claimOne(store, ask(key(scope, 'holder'), { guards: [body('a')] }));
			const event = ask(key(scope, 'event'), { guards: [body('b')] });
			await claimBriefly(world, store, event);
			const refused = await claimOne(store, ask(event.key, { guards: [body('a')] }));
			assert.deepEqual([refused.verdict, refused.matchedOn], ['body_duplicate', 'body_digest']);
			const back = await claimOne(store, ask(event.key, { guards: [body('c'), body('b')] }));
			assert.equal(back.verdict, 'taken_over');
			assert.equal((await claimOne(store, ask(key(scope, 'late'), { guards: [body('c')] }))).verdict, 'body_duplicate');
		},
	},
	{
		name: 'complete on claim: its guard is done at once, and for good',
		hazard: 'H31b',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const mode = { unfinished: 'complete_on_claim', guards: [body('a')] } as const;
			const holder = ask(key(scope, '1'), mode);
			assert.equal((await claimOne(store, holder)).verdict, 'claimed');
			assert.equal((await claimOne(store, holder)).verdict, 'reentrant');
			const reply = await claimOne(store, ask(key(scope, '2'), mode));
			assert.deepEqual([reply.verdict, reply.state, reply.retryAfterMs], ['body_duplicate', 'completed', null]);
		},
	},
	{
		name: 'a guard whose holder was deleted is free: many race for it, one has it',
		hazard: 'H38',
		needs: ['deletion'],
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 20);
			for (let round = 0; round < 10; round++) {
				const pair = [business(`${round}`), body('0123456789'[round] as string)];
				const gone = ask(key(scope, `${round}_0`), { guards: pair });
				await claimOne(stores[0] as Store, gone);
				await world.remove?.(gone.key);
				// The deleted event itself is among those who race.
				const asks = stores.map((_, n) => ask(key(scope, `${round}_${n}`), { guards: pair }));
				const replies = await race(stores, asks);
				assert.deepEqual(count(replies), { claimed: 1, business_duplicate: 19 });
				await leftNoTrace(stores[0] as Store, asks, replies);
			}
		},
	},
	{
		name: 'events and guards race while holders die and are deleted: a guard never has two living holders',
		hazard: 'H9, H31b',
		needs: ['deletion'],
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 8);
			// Whoever has the fact writes itself down and checks that nobody else is there, until it lets go.
			const holding = new Map<string, string>();
			await behindBarrier(
				stores.map((store, seed) => async () => {
					const roll = dice(seed + 200);
					for (let n = 0; n < 60; n++) {
						const fact = `fact ${roll(3)}`;
						const wanted = ask(key(scope, `event ${roll(6)} of ${fact}`), { guards: [business(fact)] });
						const { verdict, fence } = await claimOne(store, wanted);
						if (!OURS.has(verdict)) continue;
						assert.equal(holding.get(fact), undefined, `${fact} has two holders`);
						holding.set(fact, wanted.key.eventId);
						await store.find(wanted.key);
						holding.delete(fact);
						// Dead lets the guard go; the record must go too, or the event could not come again.
						await settleOne(store, wanted, fence, { state: 'dead', error: 'x' });
						await world.remove?.(wanted.key);
					}
				}),
			);
		},
	},
];

function business(fact: string): Guard {
	return { kind: 'business_key', key: fact };
}

function body(hexDigit: string): Guard {
	return { kind: 'body_digest', key: `sha256:${hexDigit.repeat(64)}` };
}

async function race(stores: readonly Store[], asks: readonly ClaimAsk[]): Promise<StoreReply[]> {
	return await behindBarrier(stores.map((store, n) => async () => await claimOne(store, asks[n] as ClaimAsk)));
}

async function leftNoTrace(store: Store, asks: readonly ClaimAsk[], replies: readonly StoreReply[]): Promise<void> {
	const records = await Promise.all(asks.map(async ({ key: at }: { key: EventKey }) => await store.find(at)));
	records.forEach((record, n) => assert.equal(record !== null, OURS.has((replies[n] as StoreReply).verdict)));
}
