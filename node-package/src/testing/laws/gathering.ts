import assert from 'node:assert';
import type { Law } from '../world';
import { ask, claimOne, count, failure, holdOpen, key, settleOne, until, untilWaiting } from './cast';

/** Callers that share one store share statements, and nothing else. */
export const gathering: readonly Law[] = [
	{
		name: '200 callers of one client race for one key: one has it, and none is told of a batch that is not its own',
		hazard: 'H1 of gathering',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open({ lanes: 4 });
			for (let round = 0; round < 5; round++) {
				const at = key(scope, `evt_${round}`);
				const replies = await Promise.all(Array.from({ length: 200 }, async () => await claimOne(store, ask(at))));
				assert.deepEqual(count(replies), { claimed: 1, in_progress: 199 });
			}
		},
	},
	{
		name: 'each of 500 callers gets the answer to its own question',
		hazard: 'order',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open({ lanes: 3 });
			const callers = Array.from({ length: 500 }, (_, n) => ask(key(scope, `evt_${n % 250}`), { executionId: `${n}` }));
			const replies = await Promise.all(callers.map(async (one) => await claimOne(store, one)));
			assert.deepEqual(count(replies), { claimed: 250, in_progress: 250 });
			for (const [n, { claimedBy }] of replies.entries()) assert.equal(claimedBy.executionId, `${n % 250}`);
			const owned = callers.slice(0, 250);
			const ends = await Promise.all(
				owned.map(async (one, n) => await settleOne(store, one, replies[n]?.fence ?? null, { state: 'completed', result: n })),
			);
			assert.deepEqual(count(ends), { settled: 250 });
			const after = await Promise.all(owned.map(async (one) => await claimOne(store, ask(one.key))));
			after.forEach(({ verdict, result }, n) => assert.deepEqual([verdict, result], ['completed', n]));
		},
	},
	{
		name: "one caller's impossible key does not touch the others",
		hazard: 'H28',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const bad = ['a\0b', '\ud800', '', 'x'.repeat(513)];
			const good = Array.from({ length: 20 }, (_, n) => ask(key(scope, `evt_${n}`)));
			const [refusals, replies] = await Promise.all([
				Promise.all(bad.map(async (id) => await failure(store.claim([ask(key(scope, id))])))),
				Promise.all(good.map(async (one) => await claimOne(store, one))),
			]);
			for (const { code } of refusals) assert.equal(code, 'store_refused_key');
			assert.deepEqual(count(replies), { claimed: 20 });
		},
	},
	{
		name: "one caller's stuck key does not touch the others",
		hazard: 'H7',
		needs: ['open_transactions'],
		async run(world) {
			const scope = world.newScope();
			const store = await world.open({ lockTimeoutMs: 1000 });
			const rival = await holdOpen(world, [ask(key(scope, 'stuck'))]);
			const good = Array.from({ length: 20 }, (_, n) => ask(key(scope, `evt_${n}`)));
			const [stuck, replies] = await Promise.all([
				failure(store.claim([ask(key(scope, 'stuck'))])),
				Promise.all(good.map(async (one) => await claimOne(store, one))),
			]);
			assert.equal(stuck.code, 'store_busy');
			assert.deepEqual(count(replies), { claimed: 20 });
			await rival.rollback();
		},
	},
	{
		name: 'a caller that loses patience is told so, and its token finds out later what happened',
		hazard: 'H44',
		needs: ['open_transactions'],
		async run(world) {
			const scope = world.newScope();
			const store = await world.open({ lanes: 2, patienceMs: 400, lockTimeoutMs: 60_000 });
			const impatient = ask(key(scope, 'stuck'));
			const rival = await holdOpen(world, [ask(impatient.key)]);
			const began = performance.now();
			assert.equal((await failure(store.claim([impatient]))).code, 'store_busy');
			assert.ok(performance.now() - began < 10_000);
			// Its connection was given up with it; others are served meanwhile.
			const others = await Promise.all(
				Array.from({ length: 20 }, async (_, n) => await claimOne(store, ask(key(scope, `evt_${n}`)))),
			);
			assert.deepEqual(count(others), { claimed: 20 });
			await rival.rollback();
			await until(async () => {
				const reply = await store.claim([impatient]).catch(() => null);
				return reply !== null && ['claimed', 'reentrant'].includes(reply[0]?.verdict ?? '');
			});
			assert.equal((await claimOne(store, ask(impatient.key))).verdict, 'in_progress');
		},
	},
	{
		name: 'closing ends what is under way, what waits and what comes later',
		hazard: 'H44',
		needs: ['open_transactions'],
		async run(world) {
			const scope = world.newScope();
			const store = await world.open({ lockTimeoutMs: 60_000 });
			await claimOne(store, ask(key(scope, 'before')));
			const wanted = ask(key(scope, 'stuck'));
			const rival = await holdOpen(world, [ask(wanted.key)]);
			const underWay = failure(store.claim([wanted]));
			await untilWaiting(world, 1);
			const waits = failure(store.claim([ask(key(scope, 'stuck'))]));
			await store.close();
			const later = failure(store.claim([ask(key(scope, 'later'))]));
			for (const { code } of await Promise.all([underWay, waits, later])) assert.equal(code, 'store_unavailable');
			await rival.rollback();
			// The server may have carried out what was under way: the token finds out, and nobody else has the event.
			const { verdict } = await claimOne(await world.open(), wanted);
			assert.ok(['claimed', 'reentrant'].includes(verdict), verdict);
		},
	},
];
