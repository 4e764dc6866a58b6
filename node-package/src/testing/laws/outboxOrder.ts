import assert from 'node:assert';
import type { Store } from '../../store/store';
import type { Law } from '../world';
import { behindBarrier, dice, holdOpen, HOUR, openMany, until } from './cast';
import { endOne, failed, message, nextBriefly, nextKeys, nextOne, search, SENT } from './messages';

/** Messages with one ordering key are sent in their order, whatever else happens. */
export const outboxOrder: readonly Law[] = [
	{
		name: 'of one ordering key only the oldest message that is not sent is handed out',
		hazard: 'order of the outbox',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const keys = ['z', 'a', 'm'];
			// In one call and in several: the order given is the order sent, whatever the keys are.
			await store.addMessages(keys.map((one) => message(scope, one, { orderingKey: 'customer' })));
			for (const one of ['y', 'b']) await store.addMessages([message(scope, one, { orderingKey: 'customer' })]);
			await store.addMessages([message(scope, 'free'), message(scope, 'other', { orderingKey: 'other' })]);
			for (const [n, expected] of [...keys, 'y', 'b'].entries()) {
				const leased = await store.nextMessages(search(scope));
				assert.deepEqual(leased.map(({ messageKey }) => messageKey), n === 0 ? [expected, 'free', 'other'] : [expected]);
				assert.deepEqual(await nextKeys(store, search(scope)), []);
				for (const one of leased) assert.equal((await endOne(store, one, SENT)).verdict, 'sent');
			}
			assert.deepEqual(await nextKeys(store, search(scope)), []);
		},
	},
	{
		name: 'a message that waits, has a lease or is dead holds up the later ones of its ordering key, and no others',
		hazard: 'order of the outbox',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const holdUps = ['delayed', 'leased', 'waits', 'dead'];
			for (const orderingKey of holdUps) {
				const delayMs = orderingKey === 'delayed' ? HOUR : 0;
				await store.addMessages([message(scope, `${orderingKey} 1`, { orderingKey, delayMs })]);
				await store.addMessages([message(scope, `${orderingKey} 2`, { orderingKey })]);
			}
			const first = await store.nextMessages(search(scope));
			assert.deepEqual(first.map(({ messageKey }) => messageKey), ['leased 1', 'waits 1', 'dead 1']);
			for (const one of first) {
				if (one.orderingKey === 'waits') await endOne(store, one, failed(HOUR));
				if (one.orderingKey === 'dead') assert.equal((await endOne(store, one, failed(0, 1))).verdict, 'dead');
			}
			await store.addMessages([message(scope, 'other', { orderingKey: 'other' })]);
			assert.deepEqual(await nextKeys(store, search(scope)), ['other']);
		},
	},
	{
		name: 'while another caller is just taking the oldest message, the next one is not handed out in its place',
		hazard: 'order of the outbox',
		needs: ['open_transactions'],
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const pair = (orderingKey: string) => [1, 2].map((n) => message(scope, `${orderingKey} ${n}`, { orderingKey }));
			await store.addMessages([...pair('a'), ...pair('b')]);

			const undecided = await holdOpen(world, []);
			assert.deepEqual(await nextKeys(undecided.store, search(scope, { limit: 1 })), ['a 1']);
			assert.deepEqual(await nextKeys(store, search(scope)), ['b 1']);
			await undecided.rollback();
			const first = await nextOne(store, search(scope));
			assert.equal(first.messageKey, 'a 1');

			// The same while its end is being written.
			const ending = await holdOpen(world, []);
			assert.equal((await endOne(ending.store, first, SENT)).verdict, 'sent');
			assert.deepEqual(await nextKeys(store, search(scope)), []);
			await ending.commit();
			assert.deepEqual(await nextKeys(store, search(scope)), ['a 2']);
		},
	},
	{
		name: 'what is added in a transaction that is still open is not handed out, and comes in its place afterwards',
		hazard: 'order of the outbox',
		needs: ['open_transactions'],
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const [kept, dropped] = [await holdOpen(world, []), await holdOpen(world, [])];
			await kept.store.addMessages([message(scope, 'kept')]);
			await dropped.store.addMessages([message(scope, 'dropped')]);
			assert.deepEqual(await nextKeys(store, search(scope)), []);
			await kept.commit();
			await dropped.kill();
			assert.deepEqual(await nextKeys(store, search(scope)), ['kept']);
			await until(async () => (await store.addMessages([message(scope, 'dropped')]))[0] !== undefined);
			assert.deepEqual(await nextKeys(store, search(scope)), ['dropped']);
		},
	},
	{
		name: '8 senders that fail, crash and come late send each ordering key in order, one at a time',
		hazard: 'order of the outbox',
		async run(world) {
			const scope = world.newScope();
			const senders = await openMany(world, 8);
			const lanes = ['a', 'b', 'c', null];
			const messages = Array.from({ length: 120 }, (_, n) =>
				message(scope, `${n}`.padStart(3, '0'), { orderingKey: lanes[n % lanes.length] as string | null }),
			);
			await (senders[0] as Store).addMessages(messages);
			const sent = new Map<string, number>();
			const journal: Array<{ readonly lane: string | null; readonly key: string }> = [];
			await behindBarrier(
				senders.map((store, seed) => async () => {
					const roll = dice(seed + 40);
					await until(async () => {
						for (const one of await store.nextMessages(search(scope, { limit: 3, leaseMs: roll(4) === 0 ? 1 : HOUR }))) {
							const luck = roll(5);
							// The end decides what was sent; until then, nobody else may have had the message.
							const { verdict } = luck === 0 ? await endOne(store, one, failed(roll(3), 1000)) : await endOne(store, one, SENT);
							if (verdict !== 'sent') continue;
							sent.set(one.messageKey, (sent.get(one.messageKey) ?? 0) + 1);
							journal.push({ lane: one.orderingKey, key: one.messageKey });
						}
						return sent.size === messages.length;
					}, 60_000);
				}),
			);
			assert.ok([...sent.values()].every((times) => times === 1), 'each message is marked as sent once');
			for (const lane of ['a', 'b', 'c']) {
				const keys = journal.filter((entry) => entry.lane === lane).map(({ key }) => key);
				assert.deepEqual(keys, [...keys].sort(), `lane ${lane} was sent in its order`);
			}
		},
	},
	{
		name: 'after its lease is over the oldest message comes again before the next one',
		hazard: 'order of the outbox',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			await store.addMessages([1, 2].map((n) => message(scope, `m${n}`, { orderingKey: 'k' })));
			await nextBriefly(world, store, search(scope));
			const again = await nextOne(store, search(scope));
			assert.deepEqual([again.messageKey, again.attempt], ['m1', 2]);
		},
	},
];
