import assert from 'node:assert';
import type { Ownership } from '../../store/lifecycle';
import type { Store } from '../../store/store';
import type { Law } from '../world';
import { ask, claimBriefly, claimOne, HOUR, key, newOwner, owned, settleOne } from './cast';

/** What an owner does to its claim while it works: it stays alive, and says how far it came. */
export const changing: readonly Law[] = [
	{
		name: 'an owner that says it is alive keeps its claim for longer',
		hazard: 'H15',
		async run(world) {
			const store = await world.open();
			const mine = ask(key(world.newScope(), 'evt_1'), { leaseMs: 60_000 });
			const { fence, leaseUntilMs } = await claimOne(store, mine);
			const [reply] = await store.extend([{ ...owned(mine, fence), leaseMs: HOUR }]);
			assert.deepEqual([reply?.verdict, reply?.state], ['extended', 'processing']);
			assert.ok((reply?.leaseUntilMs ?? 0) > (leaseUntilMs ?? 0) + HOUR / 2);
			const record = await store.find(mine.key);
			assert.deepEqual([record?.leaseUntilMs, record?.fence, record?.attempt], [reply?.leaseUntilMs, fence, 1]);
			// Also where the lease is over, as long as nobody has taken over.
			const late = ask(key(mine.key.scope, 'evt_2'));
			const receipt = owned(late, (await claimBriefly(world, store, late)).fence);
			assert.equal((await store.extend([{ ...receipt, leaseMs: HOUR }]))[0]?.verdict, 'extended');
			assert.equal((await claimOne(store, ask(late.key))).verdict, 'in_progress');
		},
	},
	{
		name: 'who is not the owner any more, or has ended the claim, neither extends nor advances it',
		hazard: 'H16',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const zombie = ask(key(scope, 'taken_over'));
			const lost = owned(zombie, (await claimBriefly(world, store, zombie)).fence);
			await claimOne(store, ask(zombie.key));
			await assertPowerless(store, lost, 'processing');

			for (const to of [{ state: 'completed' }, { state: 'uncertain', error: 'x' }, { state: 'dead', error: 'x' }] as const) {
				const ended = ask(key(scope, to.state));
				const { fence } = await claimOne(store, ended);
				await settleOne(store, ended, fence, to);
				await assertPowerless(store, owned(ended, fence), to.state);
			}
			const failed = ask(key(scope, 'failed'));
			const { fence } = await claimOne(store, failed);
			await settleOne(store, failed, fence, { state: 'failed', error: 'x', retryAfterMs: HOUR, maxAttempts: 5 });
			await assertPowerless(store, owned(failed, fence), 'failed');
			await assertPowerless(store, { key: key(scope, 'nobody'), owner: newOwner(), fence: '1' }, null);
		},
	},
];

async function assertPowerless(store: Store, receipt: Ownership, state: string | null): Promise<void> {
	const before = await store.find(receipt.key);
	assert.deepEqual(await store.extend([{ ...receipt, leaseMs: HOUR }]), [
		{ verdict: 'fenced_out', state, leaseUntilMs: null },
	]);
	assert.deepEqual(await store.advance([{ ...receipt, stage: 'a', stages: ['a'] }]), [
		{ verdict: 'fenced_out', state, stage: before?.stage ?? null, stageBefore: before?.stage ?? null },
	]);
	assert.deepEqual(await store.find(receipt.key), before);
}
