import assert from 'node:assert';
import type { ClaimAsk, EventKey, Store, StoreReply } from '../../store/store';
import type { Law, World } from '../world';
import {
	ask,
	behindBarrier,
	claimOne,
	count,
	dice,
	failure,
	holdOpen,
	key,
	OURS,
	openMany,
	settleOne,
	shuffled,
	untilWaiting,
} from './cast';

/** One key, one winner, and everybody is told what happened. */
export const claiming: readonly Law[] = [
	{
		name: 'one winner per key: 40 connections race for 300 keys behind one barrier',
		hazard: 'H1',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 40);
			const keys = Array.from({ length: 300 }, (_, n) => key(scope, `evt_${n}`));
			const replies = await behindBarrier(
				stores.map((store) => async () => {
					const mine: StoreReply[] = [];
					for (let from = 0; from < keys.length; from += 10) {
						mine.push(...(await store.claim(keys.slice(from, from + 10).map((at) => ask(at)))));
					}
					return mine;
				}),
			);
			keys.forEach((at, n) => {
				const verdicts = count(replies.map((mine) => mine[n] as StoreReply));
				assert.deepEqual(verdicts, { claimed: 1, in_progress: 39 }, at.eventId);
			});
		},
	},
	{
		name: 'an answer lost on the way is found again: same owner, same fence, still claimed',
		hazard: 'H2',
		needs: ['lost_answers'],
		async run(world) {
			const scope = world.newScope();
			const lossy = await world.openLossy?.();
			assert.ok(lossy);
			for (let n = 0; n < 5; n++) {
				const wanted = ask(key(scope, `evt_${n}`));
				lossy.loseAnswers(1);
				const reply = await claimOne(lossy.store, wanted);
				assert.equal(lossy.lost(), n + 1, 'the answer was lost once');
				assert.equal(reply.verdict, 'reentrant');
				assert.equal(reply.fence, (await lossy.store.find(wanted.key))?.fence);
				assert.equal(reply.attempt, 1);
			}
		},
	},
	{
		name: 'when no answer comes through it is an error, and the same token learns the outcome later',
		hazard: 'H2',
		needs: ['lost_answers'],
		async run(world) {
			const wanted = ask(key(world.newScope(), 'evt_1'));
			const lossy = await world.openLossy?.();
			assert.ok(lossy);
			lossy.loseAnswers(2);
			assert.equal((await failure(lossy.store.claim([wanted]))).code, 'store_unavailable');
			assert.equal((await claimOne(lossy.store, wanted)).verdict, 'reentrant');
			assert.equal((await claimOne(await world.open(), ask(wanted.key))).verdict, 'in_progress');
		},
	},
	{
		name: 'a settle whose answer was lost is carried out once and found again',
		hazard: 'H2',
		needs: ['lost_answers'],
		async run(world) {
			const wanted = ask(key(world.newScope(), 'evt_1'));
			const lossy = await world.openLossy?.();
			assert.ok(lossy);
			const { fence } = await claimOne(lossy.store, wanted);
			lossy.loseAnswers(1);
			const reply = await settleOne(lossy.store, wanted, fence, { state: 'completed', result: { n: 1 } });
			assert.equal(lossy.lost(), 1);
			assert.deepEqual(reply, { verdict: 'already', state: 'completed' });
			assert.deepEqual((await lossy.store.find(wanted.key))?.result, { n: 1 });
		},
	},
	{
		name: 'the same execution in two processes: one of them has it',
		hazard: 'H3',
		async run(world) {
			const at = key(world.newScope(), 'evt_1');
			const stores = await openMany(world, 2);
			const replies = await behindBarrier(
				stores.map((store) => async () => await claimOne(store, ask(at, { executionId: 'execution 7' }))),
			);
			assert.deepEqual(count(replies), { claimed: 1, in_progress: 1 });
			for (const reply of replies) assert.equal(reply.claimedBy.executionId, 'execution 7');
		},
	},
	{
		name: 'a rival that commits while we wait is a duplicate with its state, never an empty answer',
		hazard: 'H5',
		needs: ['open_transactions'],
		async run(world) {
			const at = key(world.newScope(), 'evt_1');
			const [store] = await openMany(world, 1);
			assert.ok(store);
			const rival = await holdOpen(world, [ask(at, { executionId: 'rival' })]);
			const waiting = claimOne(store, ask(at));
			await untilWaiting(world, 1);
			await rival.commit();
			const reply = await waiting;
			assert.equal(reply.verdict, 'in_progress');
			assert.equal(reply.state, 'processing');
			assert.equal(reply.claimedBy.executionId, 'rival');
			assert.ok((reply.retryAfterMs ?? 0) > 0);
		},
	},
	{
		name: 'a rival that rolls back, or dies, leaves the event to whoever waits',
		hazard: 'H6',
		needs: ['open_transactions'],
		async run(world) {
			const scope = world.newScope();
			const [store] = await openMany(world, 1);
			assert.ok(store);
			for (const end of ['rollback', 'kill'] as const) {
				const at = key(scope, end);
				const rival = await holdOpen(world, [ask(at)]);
				const waiting = claimOne(store, ask(at));
				await untilWaiting(world, 1);
				await rival[end]();
				assert.equal((await waiting).verdict, 'claimed', end);
			}
		},
	},
	{
		name: 'a rival that never ends makes the store busy, for this key only',
		hazard: 'H7',
		needs: ['open_transactions'],
		async run(world) {
			const scope = world.newScope();
			const stuck = ask(key(scope, 'stuck'));
			const store = await world.open({ lockTimeoutMs: 300 });
			const rival = await holdOpen(world, [ask(stuck.key)]);
			assert.equal((await failure(store.claim([stuck]))).code, 'store_busy');
			assert.equal((await claimOne(store, ask(key(scope, 'other')))).verdict, 'claimed');
			await rival.rollback();
			assert.equal((await claimOne(store, stuck)).verdict, 'claimed');
		},
	},
	{
		name: 'whatever isolation an administrator has made the default, there is one winner and no error',
		hazard: 'H8',
		needs: ['other_isolation'],
		async run(world) {
			for (const isolation of ['repeatable read', 'serializable'] as const) {
				const scope = world.newScope();
				const stores = await openMany(world, 8, { isolation });
				for (let round = 0; round < 40; round++) {
					const wanted = stores.map(() => ask(key(scope, `evt_${round}`)));
					const replies = await behindBarrier(
						stores.map((store, n) => async () => await claimOne(store, wanted[n] as ClaimAsk)),
					);
					assert.deepEqual(count(replies), { claimed: 1, in_progress: 7 }, isolation);
					const winner = replies.findIndex(({ verdict }) => verdict === 'claimed');
					const fence = replies[winner]?.fence ?? null;
					const done = await settleOne(stores[winner] as Store, wanted[winner] as ClaimAsk, fence, { state: 'completed' });
					assert.equal(done.verdict, 'settled', isolation);
				}
			}
		},
	},
	{
		name: 'each ask gets one answer while others delete and complete the records',
		hazard: 'H9',
		needs: ['deletion'],
		async run(world) {
			const scope = world.newScope();
			const keys = Array.from({ length: 5 }, (_, n) => key(scope, `evt_${n}`));
			const stores = await openMany(world, 5);
			let claiming = true;
			const deleter = async (): Promise<number> => {
				let rounds = 0;
				for (; claiming; rounds++) await world.remove?.(keys[rounds % keys.length] as EventKey);
				return rounds;
			};
			const claimer = (store: Store, seed: number) => async (): Promise<number> => {
				const roll = dice(seed);
				let won = 0;
				for (let n = 0; n < 250; n++) {
					const wanted = ask(keys[roll(keys.length)] as EventKey);
					const reply = await claimOne(store, wanted);
					assert.ok(['claimed', 'in_progress', 'completed'].includes(reply.verdict), reply.verdict);
					if (reply.verdict !== 'claimed') continue;
					won++;
					await settleOne(store, wanted, reply.fence, { state: 'completed' });
				}
				return won;
			};
			const claimers = stores.map((store, n) => claimer(store, n));
			const claims = async (): Promise<number> => {
				const won = await behindBarrier(claimers);
				claiming = false;
				return won.reduce((sum, n) => sum + n, 0);
			};
			const [won, deletions] = await Promise.all([claims(), deleter()]);
			assert.ok(won > keys.length && deletions > 0, 'records came and went');
		},
	},
	{
		name: 'the same key twice in one call: the first decides, the others are told so, in the order asked',
		hazard: 'H10',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const ids = ['b', 'a', 'b', 'c', 'a', 'b'];
			const digests = ids.map((_, n) => `sha256:${String(n).repeat(64)}`);
			const asks = ids.map((id, n) => ask(key(scope, id), { bodyDigest: digests[n] as string, executionId: `${n}` }));
			const first = await store.claim(asks);
			assert.deepEqual(
				first.map(({ verdict }) => verdict),
				['claimed', 'claimed', 'duplicate_in_batch', 'claimed', 'duplicate_in_batch', 'duplicate_in_batch'],
			);
			assert.deepEqual(first.map(({ claimedBy }) => claimedBy.executionId), ['0', '1', '0', '3', '1', '0']);
			assert.deepEqual(first.map(({ fence }) => fence !== null), [true, true, false, true, false, false]);
			assert.equal(first[2]?.matchedOn, 'same_batch');
			assert.equal(first[2]?.payloadChanged, true);
			const again = await store.claim(ids.map((id) => ask(key(scope, id))));
			assert.deepEqual(
				again.map(({ verdict }) => verdict),
				['in_progress', 'in_progress', 'duplicate_in_batch', 'in_progress', 'duplicate_in_batch', 'duplicate_in_batch'],
			);
		},
	},
	{
		name: 'the same key twice in one call, other bodies refused: each body is judged by the record',
		hazard: 'H10',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const [one, other] = [`sha256:${'1'.repeat(64)}`, `sha256:${'2'.repeat(64)}`];
			const asks = (bodies: string[]) =>
				bodies.map((bodyDigest) => ask(key(scope, 'evt'), { bodyDigest, payloadChanged: 'reject' }));
			const fresh = await store.claim(asks([one, other, one]));
			assert.deepEqual(fresh.map(({ verdict }) => verdict), ['claimed', 'payload_mismatch', 'duplicate_in_batch']);
			const later = await store.claim(asks([other, one, other]));
			assert.deepEqual(later.map(({ verdict }) => verdict), ['payload_mismatch', 'in_progress', 'payload_mismatch']);
		},
	},
	{
		name: 'random batches in random order from 16 connections: no deadlock, one winner per key',
		hazard: 'H11',
		async run(world) {
			const scope = world.newScope();
			const keys = Array.from({ length: 120 }, (_, n) => key(scope, `evt_${n}`));
			const stores = await openMany(world, 16);
			const won = new Map<string, Set<string>>();
			await behindBarrier(
				stores.map((store, seed) => async () => {
					const roll = dice(seed);
					for (let n = 0; n < 12; n++) {
						const batch = shuffled(keys, roll).slice(0, 50);
						const asks = batch.map((at) => ask(at, { leaseMs: 1, maxAttempts: 30_000 }));
						for (const [at, { verdict, fence }] of (await store.claim(asks)).entries()) {
							if (!OURS.has(verdict)) continue;
							const id = (batch[at] as EventKey).eventId;
							const fences = won.get(id) ?? new Set();
							assert.ok(fence !== null && !fences.has(fence), 'a fence is given out once');
							won.set(id, fences.add(fence));
						}
					}
				}),
			);
			const store = stores[0] as Store;
			for (const at of keys) {
				const record = await store.find(at);
				assert.ok((record?.attempt ?? 0) >= (won.get(at.eventId)?.size ?? 0), at.eventId);
			}
		},
	},
	{
		name: 'a duplicate writes nothing',
		hazard: 'H42',
		needs: ['write_position'],
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const keys = Array.from({ length: 50 }, (_, n) => key(scope, `evt_${n}`));
			const owned = keys.map((at) => ask(at));
			const replies = await store.claim(owned);
			for (const half of [0, 1]) {
				await writesNothing(world, async () => {
					for (let n = 0; n < 10; n++) await store.claim(keys.map((at) => ask(at)));
					for (const at of keys) await claimOne(store, ask(at));
				});
				if (half === 1) break;
				await store.settle(
					owned.map(({ key: at, owner }, n) => ({
						key: at,
						owner,
						fence: replies[n]?.fence as string,
						to: { state: 'completed' as const, result: 'done' },
					})),
				);
			}
		},
	},
];

/** The server writes a little by itself now and then, so one quiet time of several is proof enough. */
async function writesNothing(world: World, work: () => Promise<void>): Promise<void> {
	const written: bigint[] = [];
	while (written.length < 5) {
		const before = await world.writePosition?.();
		await work();
		const after = await world.writePosition?.();
		assert.ok(before !== undefined && after !== undefined);
		if (after === before) return;
		written.push(after - before);
	}
	assert.fail(`each time something was written: ${written.join(', ')} bytes`);
}
