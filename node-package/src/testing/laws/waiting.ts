import assert from 'node:assert';
import type { Law } from '../world';
import { ask, claimBriefly, claimOne, holdOpen, HOUR, key, newOwner, settleOne, untilWaiting } from './cast';

/** What waits for somebody else's transaction is judged by what that leaves behind, and by nothing older. */
export const waiting: readonly Law[] = [
	{
		name: 'resolved while it is just becoming uncertain',
		hazard: 'T13',
		needs: ['open_transactions'],
		async run(world) {
			const owned = ask(key(world.newScope(), 'evt_1'));
			const store = await world.open();
			const { fence } = await claimOne(store, owned);
			const ending = await holdOpen(world, []);
			await settleOne(ending.store, owned, fence, { state: 'uncertain', error: 'timeout' });
			const order = { key: owned.key, fence, to: { state: 'failed', retryAfterMs: HOUR }, reason: 'not charged' } as const;
			const resolving = store.resolve([order]);
			await untilWaiting(world, 1);
			await ending.commit();
			assert.deepEqual(await resolving, [{ verdict: 'resolved', state: 'failed' }]);
			assert.equal((await claimOne(store, ask(owned.key))).verdict, 'backoff');
		},
	},
	{
		name: 'reopened while it is just running out of attempts',
		hazard: 'T14',
		needs: ['open_transactions'],
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const failed = ask(key(scope, 'failed'), { maxAttempts: 2 });
			const { fence } = await claimOne(store, failed);
			await settleOne(store, failed, fence, { state: 'failed', error: 'HTTP 503', retryAfterMs: 0, maxAttempts: 2 });
			const stale = ask(key(scope, 'stale'));
			await claimBriefly(world, store, stale);
			for (const owned of [failed, stale]) {
				const exhausting = await holdOpen(world, [ask(owned.key, { maxAttempts: 1 })]);
				const order = { key: owned.key, reason: 'once more', owner: newOwner(), leaseMs: HOUR, executionId: null };
				const reopening = store.reopen([order]);
				await untilWaiting(world, 1);
				await exhausting.commit();
				const [reopened] = await reopening;
				assert.deepEqual([reopened?.verdict, reopened?.state, reopened?.attempt], ['reopened', 'processing', 2]);
			}
		},
	},
];
