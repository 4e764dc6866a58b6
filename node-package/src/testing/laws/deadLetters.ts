import assert from 'node:assert';
import type { DeadLetter } from '../../store/lifecycle';
import type { Settle } from '../../store/store';
import type { Law } from '../world';
import { ask, claimBriefly, claimOne, HOUR, holdOpen, key, newestLetter, newOwner, search, settleOne } from './cast';

/** Whatever becomes uncertain or dead has a number, once, and nobody who reads on from a number misses one. */
export const deadLetters: readonly Law[] = [
	{
		name: 'every way to become uncertain or dead writes one letter, in the order in which it happened',
		hazard: 'T5, T6, T9, T10',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const after = await newestLetter(store);
			const ends: Record<string, Settle['to']> = {
				given_up: { state: 'dead', error: 'no' },
				not_known: { state: 'uncertain', error: 'who knows' },
				used_up: { state: 'failed', error: 'again', retryAfterMs: 0, maxAttempts: 1 },
				failed: { state: 'failed', error: 'again', retryAfterMs: HOUR, maxAttempts: null },
				completed: { state: 'completed' },
			};
			for (const [eventId, to] of Object.entries(ends)) {
				const wanted = ask(key(scope, eventId));
				const { fence } = await claimOne(store, wanted);
				await settleOne(store, wanted, fence, to);
			}
			for (const [eventId, more] of [['redelivered_too_often', { maxAttempts: 1 }], ['redelivered_on_hold', { unfinished: 'hold' }]] as const) {
				const wanted = ask(key(scope, eventId), more);
				await claimBriefly(world, store, wanted);
				await claimOne(store, { ...wanted, owner: newOwner() });
			}
			await claimBriefly(world, store, ask(key(scope, 'recovered_too_often'), { maxAttempts: 1 }));
			await store.recover(search({ scope }));
			const letters = await store.deadLetters({ after, missing: [], limit: 100 });
			assert.deepEqual(
				letters.map(({ claim }) => `${claim?.key.eventId} ${claim?.state}`),
				[
					...['given_up dead', 'not_known uncertain', 'used_up dead'],
					...['redelivered_too_often dead', 'redelivered_on_hold uncertain', 'recovered_too_often dead'],
				],
			);
			assert.ok(grows(letters));
			assert.deepEqual(await store.deadLetters({ after, missing: [], limit: 2 }), letters.slice(0, 2));
		},
	},
	{
		name: 'a letter says nothing once its event has gone on, and there is another one if it dies again',
		hazard: 'T13, T14',
		async run(world) {
			const store = await world.open();
			const at = key(world.newScope(), 'e');
			const after = await newestLetter(store);
			const states = async () => (await store.deadLetters({ after, missing: [], limit: 100 })).map(({ claim }) => claim?.state ?? null);
			const wanted = ask(at);
			const { fence } = await claimOne(store, wanted);
			await settleOne(store, wanted, fence, { state: 'uncertain', error: 'who knows' });
			assert.deepEqual(await states(), ['uncertain']);
			await store.resolve([{ key: at, fence: null, to: { state: 'dead' }, reason: 'looked at it' }]);
			assert.deepEqual(await states(), ['dead'], 'a person who says so himself is not told');
			const owner = newOwner();
			const [again] = await store.reopen([{ key: at, reason: 'once more', owner, leaseMs: HOUR, executionId: null }]);
			assert.deepEqual(await states(), [null]);
			await settleOne(store, { ...wanted, owner }, again?.fence ?? null, { state: 'dead', error: 'no' });
			assert.deepEqual(await states(), [null, 'dead']);
		},
	},
	{
		name: 'a letter whose transaction is committed late is not lost to a reader who has gone on',
		hazard: 'H53',
		needs: ['open_transactions'],
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const late = ask(key(scope, 'late'), { maxAttempts: 1 });
			await claimBriefly(world, store, late);
			const after = await newestLetter(store);
			const transaction = await holdOpen(world, [{ ...late, owner: newOwner() }]);
			const early = ask(key(scope, 'early'));
			const { fence } = await claimOne(store, early);
			await settleOne(store, early, fence, { state: 'dead', error: 'no' });

			const [first, ...others] = await store.deadLetters({ after, missing: [], limit: 100 });
			assert.deepEqual([first?.claim?.key.eventId, others.length], ['early', 0]);
			await transaction.commit();
			const missing = range(BigInt(after) + 1n, BigInt(first?.id ?? 0));
			const found = await store.deadLetters({ after: first?.id ?? '0', missing, limit: 100 });
			assert.deepEqual(found.map(({ claim }) => claim?.key.eventId), ['late']);
		},
	},
];

function grows(letters: readonly DeadLetter[]): boolean {
	return letters.every(({ id }, at) => at === 0 || BigInt(id) > BigInt(letters[at - 1]?.id ?? 0));
}

/** From the first to before the second. */
function range(from: bigint, to: bigint): string[] {
	return Array.from({ length: Number(to - from) }, (_, n) => String(from + BigInt(n)));
}
