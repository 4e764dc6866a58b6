import assert from 'node:assert';
import type { ClaimAsk, Store } from '../../store/store';
import type { Law } from '../world';
import { ask, behindBarrier, claimBriefly, claimOne, count, failure, HOUR, key, newOwner, openMany, search, settleOne } from './cast';
import { message, nextKeys, search as messages } from './messages';

/** Events that come out of order: an older one must not undo what a newer one did. */
export const subjects: readonly Law[] = [
	{
		name: 'an event that is older than the newest completed one for its object is superseded, and leaves no trace',
		hazard: 'out of order',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const at = about(scope, 'sub_1');
			await complete(store, at('newer', '10'));
			const guards = [{ kind: 'business_key', key: 'fact' }] as const;
			const older = { ...at('older', '9.999999999'), guards };
			const began = await world.now();
			const reply = await claimOne(store, older);
			const { verdict, state, fence, attempt, matchedOn, retryAfterMs, leaseUntilMs, completedAtMs, result } = reply;
			assert.deepEqual(
				{ verdict, state, fence, attempt, matchedOn, retryAfterMs, leaseUntilMs, completedAtMs, result },
				{
					...{ verdict: 'superseded', state: 'completed', fence: null, attempt: 0, matchedOn: null },
					...{ retryAfterMs: null, leaseUntilMs: null, completedAtMs: null, result: null },
				},
			);
			assert.ok(reply.firstSeenAtMs >= began - 1);
			assert.equal(await store.find(older.key), null);
			assert.equal((await claimOne(store, ask(key(scope, 'other'), { guards }))).verdict, 'claimed');
			// Equally new, newer, about something else, in another scope, about nothing.
			const others = [at('same', '10'), at('same, written otherwise', '010.0'), at('newest', '10.000000001')];
			const free = [...others, about(scope, 'sub_2')('e', '1'), about(world.newScope(), 'sub_1')('e', '1'), ask(key(scope, 'n'))];
			assert.deepEqual(count(await store.claim(free)), { claimed: free.length });
		},
	},
	{
		name: 'only what is completed supersedes: by its end, by a person, or when it is claimed',
		hazard: 'out of order',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const verdictOfOlder = async (object: string): Promise<string> =>
				(await claimOne(store, about(scope, object)(`older ${object} ${newOwner()}`, '1'))).verdict;
			const ends = [
				{ state: 'failed', error: 'x', retryAfterMs: HOUR, maxAttempts: 5 },
				{ state: 'dead', error: 'x' },
				{ state: 'uncertain', error: 'x' },
			] as const;
			for (const to of ends) {
				const newer = about(scope, to.state)(`newer ${to.state}`, '2');
				const { fence } = await claimOne(store, newer);
				assert.equal(await verdictOfOlder(to.state), 'claimed');
				await settleOne(store, newer, fence, to);
				assert.equal(await verdictOfOlder(to.state), 'claimed', to.state);
			}
			await store.resolve([{ key: key(scope, 'newer uncertain'), fence: null, to: { state: 'completed' }, reason: 'x' }]);
			assert.equal(await verdictOfOlder('uncertain'), 'superseded');
			await claimOne(store, { ...about(scope, 'at once')('newer', '2'), unfinished: 'complete_on_claim' });
			assert.equal(await verdictOfOlder('at once'), 'superseded');

			const taken = about(scope, 'taken over')('newer taken over', '2');
			await claimBriefly(world, store, taken);
			await claimOne(store, { ...taken, owner: newOwner(), unfinished: 'complete_on_claim' });
			assert.equal(await verdictOfOlder('taken over'), 'superseded');
		},
	},
	{
		name: 'of many completed in one call the newest counts, and an older one that is completed later changes nothing',
		hazard: 'out of order',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const at = about(scope, 'sub_1');
			const versions = ['3', '20', '100', '4'];
			const asks = versions.map((version) => at(`v${version}`, version));
			const early = at('early', '5');
			const { fence } = await claimOne(store, early);
			const replies = await store.claim(asks);
			const receipts = asks.map(({ key: where, owner }, n) => ({ key: where, owner, fence: replies[n]?.fence as string }));
			assert.deepEqual(count(await store.settle(receipts.map((one) => ({ ...one, to: { state: 'completed' } })))), { settled: 4 });
			assert.equal((await settleOne(store, early, fence, { state: 'completed' })).verdict, 'settled');
			assert.equal((await claimOne(store, at('late', '99'))).verdict, 'superseded');
			assert.equal((await claimOne(store, at('next', '101'))).verdict, 'claimed');

			const other = about(scope, 'sub_2');
			await store.claim(versions.map((version) => ({ ...other(`at once ${version}`, version), unfinished: 'complete_on_claim' })));
			assert.equal((await claimOne(store, other('later', '99'))).verdict, 'superseded');
		},
	},
	{
		name: 'an unfinished event that has been overtaken ends as completed instead of being handed out again',
		hazard: 'out of order, T4, T11',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const at = about(scope, 'sub_1');
			const payload = { headers: [], body: new Uint8Array(1), keep: 'until_completed' } as const;
			const stale = { ...at('stale', '1'), payload };
			const lost = await claimBriefly(world, store, stale);
			const failed = at('failed', '1');
			const to = { state: 'failed', error: 'x', retryAfterMs: 0, maxAttempts: 5 } as const;
			await settleOne(store, failed, (await claimOne(store, failed)).fence, to);
			const live = at('live', '1');
			const { fence } = await claimOne(store, live);
			const recovered = at('recovered', '1');
			const receipt = await claimBriefly(world, store, recovered);
			const dead = { ...at('used up', '1'), maxAttempts: 1 };
			await claimBriefly(world, store, dead);
			await complete(store, at('newer', '2'));

			for (const one of [stale, failed]) {
				const reply = await claimOne(store, { ...one, owner: newOwner() });
				assert.deepEqual([reply.verdict, reply.state, reply.fence, reply.matchedOn, reply.attempt], ['superseded', 'completed', null, null, 1]);
				const record = await store.find(one.key);
				assert.deepEqual([record?.state, record?.error, record?.leaseUntilMs], ['completed', 'superseded by a newer event', null]);
				assert.equal((await claimOne(store, { ...one, owner: newOwner() })).verdict, 'completed');
			}
			assert.equal(await store.findPayload(stale.key), null);
			assert.equal((await settleOne(store, stale, lost.fence, { state: 'dead', error: 'x' })).verdict, 'fenced_out');
			assert.equal((await settleOne(store, stale, lost.fence, { state: 'completed' })).verdict, 'fenced_out');
			// Whoever is at it already may end it; attempts that are used up are what they were.
			assert.equal((await claimOne(store, { ...live, owner: newOwner() })).verdict, 'in_progress');
			assert.equal((await claimOne(store, live)).verdict, 'reentrant');
			const found = await store.recover(search({ scope }));
			assert.deepEqual(
				found.map(({ key: { eventId }, verdict, state, owner }) => [eventId, verdict, state, owner]),
				[['recovered', 'superseded', 'completed', null], ['used up', 'exhausted', 'dead', null]],
			);
			const done = { state: 'completed', result: 'zombie', outbox: [message(scope, 'zombie')] } as const;
			assert.deepEqual(await settleOne(store, recovered, receipt.fence, done), { verdict: 'fenced_out', state: 'completed' });
			assert.equal((await store.find(recovered.key))?.result, null);
			assert.deepEqual(await nextKeys(store, messages(scope)), []);
			assert.equal((await settleOne(store, live, fence, { state: 'completed' })).verdict, 'settled');
		},
	},
	{
		name: 'while newer ones are being completed: what is claimed after an answer is never older than it',
		hazard: 'out of order',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 8);
			for (let round = 0; round < 8; round++) {
				const at = about(scope, `sub_${round}`);
				let newest = 0;
				await behindBarrier(
					stores.map((store, n) => async () => {
						for (let step = 0; step < 8; step++) {
							const version = 1 + ((n * 5 + step * 11) % 64);
							const before = newest;
							const wanted = at(`evt_${round}_${n}_${step}`, `${version}`);
							const { verdict, fence } = await claimOne(store, wanted);
							if (version < before) assert.equal(verdict, 'superseded', `${version} after ${before}`);
							if (verdict === 'superseded') continue;
							assert.equal((await settleOne(store, wanted, fence, { state: 'completed' })).verdict, 'settled');
							newest = Math.max(newest, version);
						}
					}),
				);
				assert.equal((await claimOne(stores[0] as Store, at(`last_${round}`, `${newest - 1}`))).verdict, 'superseded');
			}
		},
	},
	{
		name: 'a version that is not a plain decimal number is refused',
		hazard: 'out of order',
		async run(world) {
			const store = await world.open();
			const at = about(world.newScope(), 'sub_1');
			for (const version of ['', '-1', '1e3', '1.', '.1', 'NaN', '1'.repeat(31), '1.0000000001', ' 1', '0x1']) {
				assert.equal((await failure(store.claim([at('evt_1', version)]))).code, 'store_refused_key', version);
			}
			const largest = `${'9'.repeat(30)}.${'9'.repeat(9)}`;
			await complete(store, at('largest', largest));
			assert.equal((await claimOne(store, at('smaller', `${'9'.repeat(30)}.${'9'.repeat(8)}8`))).verdict, 'superseded');
			assert.equal((await claimOne(store, at('equal', largest))).verdict, 'claimed');
		},
	},
];

function about(scope: string, object: string): (eventId: string, version: string) => ClaimAsk {
	return (eventId, version) => ask(key(scope, eventId), { subject: { key: object, version } });
}

async function complete(store: Store, wanted: ClaimAsk): Promise<void> {
	const { verdict, fence } = await claimOne(store, wanted);
	assert.equal(verdict, 'claimed');
	assert.equal((await settleOne(store, wanted, fence, { state: 'completed' })).verdict, 'settled');
}
