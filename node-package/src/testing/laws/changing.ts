import assert from 'node:assert';
import type { Ownership } from '../../store/lifecycle';
import type { Store } from '../../store/store';
import type { Law } from '../world';
import {
	ask,
	behindBarrier,
	claimBriefly,
	claimOne,
	count,
	failure,
	HOUR,
	key,
	newOwner,
	openMany,
	OURS,
	owned,
	settleOne,
} from './cast';

/** What an owner does to its claim while it works: it says that it is alive, and how far it came. */
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
			const owner = ask(zombie.key);
			const taken = await claimOne(store, owner);
			await assertPowerless(store, lost, 'processing');
			// Neither half of a receipt is enough.
			await assertPowerless(store, { ...lost, fence: taken.fence as string }, 'processing');
			await assertPowerless(store, { ...owned(owner, lost.fence) }, 'processing');

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
	{
		name: 'an owner that extends and others that take over, at once: it keeps the claim, or one of them has it',
		hazard: 'H15, T4',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 6);
			for (let round = 0; round < 25; round++) {
				const mine = ask(key(scope, `evt_${round}`));
				const receipt = owned(mine, (await claimBriefly(world, stores[0] as Store, mine)).fence);
				const answers = await behindBarrier(
					stores.map((store, n) => async () =>
						n === 0
							? ((await store.extend([{ ...receipt, leaseMs: HOUR }]))[0]?.verdict as string)
							: (await claimOne(store, ask(mine.key))).verdict,
					),
				);
				const taken = answers.filter((verdict) => OURS.has(verdict)).length;
				assert.equal(taken + (answers[0] === 'extended' ? 1 : 0), 1, answers.join());
				assert.equal(answers.filter((verdict) => verdict === 'in_progress').length, 5 - taken, answers.join());
			}
		},
	},
	{
		name: 'a stage is reached once, never left for an earlier one, and known to whoever owns the claim next',
		hazard: 'stages',
		async run(world) {
			const store = await world.open();
			const mine = ask(key(world.newScope(), 'evt_1'));
			const stages = ['paid', 'booked', 'sent'];
			const first = owned(mine, (await claimBriefly(world, store, mine)).fence);
			const steps = ['booked', 'booked', 'paid', 'sent', 'sent'].map((stage) => ({ ...first, stage, stages }));
			// One call, one key: each is judged by what the one before it left.
			assert.deepEqual(
				(await store.advance(steps)).map(({ verdict, stageBefore, stage }) => [verdict, stageBefore, stage]),
				[
					['advanced', null, 'booked'],
					['already_there', 'booked', 'booked'],
					['already_there', 'booked', 'booked'],
					['advanced', 'booked', 'sent'],
					['already_there', 'sent', 'sent'],
				],
			);
			const unknown = await store.advance([{ ...first, stage: 'a', stages: ['a', 'b'] }]);
			assert.deepEqual(unknown, [
				{ verdict: 'unknown_stage', state: 'processing', stage: 'sent', stageBefore: 'sent' },
			]);
			const next = await claimOne(store, ask(mine.key));
			assert.deepEqual([next.verdict, next.stage], ['taken_over', 'sent']);
			assert.equal((await claimOne(store, ask(mine.key))).stage, 'sent');
			assert.equal((await store.find(mine.key))?.stage, 'sent');
		},
	},
	{
		name: 'the same step, asked for 8 times at once, is taken once',
		hazard: 'stages',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 8);
			for (let round = 0; round < 10; round++) {
				const mine = ask(key(scope, `evt_${round}`));
				const receipt = owned(mine, (await claimOne(stores[0] as Store, mine)).fence);
				const step = { ...receipt, stage: 'paid', stages: ['paid', 'sent'] };
				const replies = await behindBarrier(stores.map((store) => async () => await store.advance([step])));
				assert.deepEqual(count(replies.flat()), { advanced: 1, already_there: 7 });
			}
		},
	},
	{
		name: 'an impossible list of stages is refused, and nothing is sent',
		hazard: 'stages',
		async run(world) {
			const store = await world.open();
			const mine = ask(key(world.newScope(), 'evt_1'));
			const receipt = owned(mine, (await claimOne(store, mine)).fence);
			const many = Array.from({ length: 51 }, (_, n) => `${n}`);
			const lists = [[], ['a', 'b', 'a'], ['b'], ['a', ''], ['a', 'x'.repeat(101)], ['a', 'b\0'], ['a', '\ud800'], ['a', ...many]];
			for (const stages of lists) {
				assert.equal((await failure(store.advance([{ ...receipt, stage: 'a', stages }]))).code, 'store_refused_key');
			}
			assert.equal((await store.find(mine.key))?.stage, null);
		},
	},
	{
		name: 'an answer lost while extending is found again; lost while advancing it is an error, since the step may be due',
		hazard: 'H2',
		needs: ['lost_answers'],
		async run(world) {
			const lossy = await world.openLossy?.();
			assert.ok(lossy);
			const mine = ask(key(world.newScope(), 'evt_1'));
			const receipt = owned(mine, (await claimOne(lossy.store, mine)).fence);
			lossy.loseAnswers(1);
			const extended = await lossy.store.extend([{ ...receipt, leaseMs: 2 * HOUR }]);
			assert.deepEqual(extended.map(({ verdict, state }) => [verdict, state]), [['extended', 'processing']]);
			lossy.loseAnswers(1);
			const step = { ...receipt, stage: 'paid', stages: ['paid'] };
			assert.deepEqual([(await failure(lossy.store.advance([step]))).code, lossy.lost()], ['store_unavailable', 2]);
			const advanced = await lossy.store.advance([step]);
			assert.deepEqual(advanced.map(({ verdict, stage }) => [verdict, stage]), [['already_there', 'paid']]);
		},
	},
];

async function assertPowerless(store: Store, receipt: Ownership, state: string | null): Promise<void> {
	const before = await store.find(receipt.key);
	const stage = before?.stage ?? null;
	const extended = await store.extend([{ ...receipt, leaseMs: HOUR }]);
	assert.deepEqual(extended, [{ verdict: 'fenced_out', state, leaseUntilMs: null }]);
	const advanced = await store.advance([{ ...receipt, stage: 'a', stages: ['a'] }]);
	assert.deepEqual(advanced, [{ verdict: 'fenced_out', state, stage, stageBefore: stage }]);
	assert.deepEqual(await store.find(receipt.key), before);
}
