import assert from 'node:assert';
import type { LeasedMessage, OutboxMessage } from '../../store/outbox';
import type { Store } from '../../store/store';
import type { Law } from '../world';
import { behindBarrier, failure, HOUR, newOwner, openMany, until } from './cast';
import { endOne, failed, message, nextBriefly, nextKeys, nextOne, search, SENT } from './messages';

/** Messages are stored once, handed out until they are sent, and ended by nobody but who has them. */
export const outbox: readonly Law[] = [
	{
		name: 'a message comes out as it was given, byte for byte',
		hazard: 'H28 of the outbox',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const bodies = [
				'{"b":1,"a":2,"a":3, "n":12345678901234567890.10e-400}',
				' [ null ,\n\ttrue ] ',
				'"\\u0000 \\ud800 \\/ \u00e9 e\u0301 \u{1f600} \u2028 \\\\ `${x}`"',
				'0',
				`"${'\u00fc'.repeat(131_000)}"`,
			];
			const given = bodies.map((body, n) =>
				message(scope, `\u00e4\u{1f600} ${n}`, { topic: 'caf\u00e9 "\'\\', orderingKey: `\u2028${n}`, body }),
			);
			assert.deepEqual(await store.addMessages(given), given.map(() => 'added'));
			const began = await world.now();
			const owner = newOwner();
			const messages = await store.nextMessages(search(scope, { owner, leaseMs: 60_000 }));
			assert.equal(messages.length, given.length);
			for (const [n, leased] of messages.entries()) {
				const { id, fence, createdAtMs, leaseUntilMs, ...rest } = leased;
				assert.match(`${id} ${fence}`, /^[1-9]\d* [1-9]\d*$/);
				assert.deepEqual(rest, { ...(given[n] as OutboxMessage), owner, attempt: 1, error: null });
				assert.ok(createdAtMs <= began && createdAtMs > began - HOUR);
				assert.ok(leaseUntilMs >= Math.floor(began) + 60_000 && leaseUntilMs < began + HOUR);
			}
			assert.equal(new Set(messages.map(({ fence }) => fence)).size, given.length, 'each lease has a fence of its own');
		},
	},
	{
		name: 'a message key is stored once per scope, whatever the message says and whoever adds it at the same time',
		hazard: 'H1 of the outbox',
		async run(world) {
			const [scope, other] = [world.newScope(), world.newScope()];
			const stores = await openMany(world, 20);
			const store = stores[0] as Store;
			const first = [message(scope, 'a', { body: '1' }), message(scope, 'a', { body: '2' }), message(other, 'a', { body: '3' })];
			assert.deepEqual(await store.addMessages(first), ['added', 'already_added', 'added']);
			const again = [message(scope, 'b'), message(scope, 'a', { topic: 'other', body: '4' })];
			assert.deepEqual(await store.addMessages(again), ['added', 'already_added']);
			for (let round = 0; round < 10; round++) {
				// Half of them in the opposite order: nobody waits for somebody who waits for him.
				const pair = [message(scope, `x${round}`), message(scope, `y${round}`)];
				const added = await behindBarrier(
					stores.map((one, n) => async () => await one.addMessages(n % 2 === 0 ? pair : [...pair].reverse())),
				);
				assert.equal(added.flat().filter((answer) => answer === 'added').length, 2);
			}
			const messages = await store.nextMessages(search(scope));
			assert.equal(messages.length, 22);
			assert.equal(messages.find(({ messageKey }) => messageKey === 'a')?.body, '1');
		},
	},
	{
		name: 'what cannot be stored is refused by name, and nothing else with it',
		hazard: 'H28 of the outbox',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const wrong: ReadonlyArray<readonly [Partial<OutboxMessage>, RegExp]> = [
				[{ messageKey: '' }, /message key is empty/],
				[{ messageKey: 'x'.repeat(513) }, /message key has 513 bytes/],
				[{ topic: 'a\0b' }, /topic of the message holds NUL/],
				[{ topic: '\u00fc'.repeat(101) }, /topic of the message has 202 bytes/],
				[{ orderingKey: '\ud800' }, /ordering key holds half a character/],
				[{ body: '{"a":}' }, /body of the message is not JSON/],
				[{ body: '' }, /body of the message is not JSON/],
				[{ body: '"\ud800"' }, /body of the message holds half a character/],
				[{ body: `"${'x'.repeat(262_144)}"` }, /body of the message has 262146 bytes/],
				[{ body: {} as string }, /body of the message is not a text/],
				[{ delayMs: -1 }, /delay of the message is -1/],
				[{ delayMs: 0.5 }, /delay of the message is 0.5/],
			];
			const good = Array.from({ length: 10 }, (_, n) => message(scope, `good ${n}`));
			const [refusals, added] = await Promise.all([
				Promise.all(wrong.map(async ([part]) => await failure(store.addMessages([message(scope, 'bad', part)])))),
				Promise.all(good.map(async (one) => await store.addMessages([one]))),
			]);
			for (const [n, { code, message: text }] of refusals.entries()) {
				assert.equal(code, 'store_refused_key');
				assert.match(text, wrong[n]?.[1] as RegExp);
			}
			assert.deepEqual(added.flat(), good.map(() => 'added'));
			for (const part of [{ limit: 0 }, { leaseMs: 0 }, { owner: 'me' }, { scope: '' }, { topic: '' }]) {
				assert.equal((await failure(store.nextMessages(search(scope, part)))).code, 'store_refused_key');
			}
			const leased = (await store.nextMessages(search(scope)))[0] as LeasedMessage;
			for (const part of [{ id: '0' }, { fence: 'x' }, { owner: '' }]) {
				assert.equal((await failure(endOne(store, { ...leased, ...part }, SENT))).code, 'store_refused_key');
			}
			assert.deepEqual(await endOne(store, leased, SENT), { verdict: 'sent', nextAttemptAtMs: null });
		},
	},
	{
		name: '20 callers at the same time get different messages, and all of them',
		hazard: 'H1 of the outbox',
		async run(world) {
			const stores = await openMany(world, 20);
			for (let round = 0; round < 5; round++) {
				const scope = world.newScope();
				await (stores[0] as Store).addMessages(Array.from({ length: 200 }, (_, n) => message(scope, `m${n}`)));
				const found = await behindBarrier(stores.map((one) => async () => await nextKeys(one, search(scope, { limit: 10 }))));
				assert.deepEqual(found.map(({ length }) => length), stores.map(() => 10));
				assert.equal(new Set(found.flat()).size, 200);
			}
		},
	},
	{
		name: 'a message that is sent is not handed out again; ended again by the same owner it is `already`',
		hazard: 'T7 of the outbox',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			await store.addMessages([message(scope, 'a')]);
			const leased = await nextOne(store, search(scope));
			assert.deepEqual(await nextKeys(store, search(scope)), []);
			const { id, owner, fence } = leased;
			const twice = await store.settleMessages([1, 2].map(() => ({ id, owner, fence, to: SENT })));
			assert.deepEqual(twice.map(({ verdict }) => verdict), ['sent', 'already']);
			assert.deepEqual(await endOne(store, leased, SENT), { verdict: 'already', nextAttemptAtMs: null });
			assert.deepEqual(await endOne(store, leased, failed()), { verdict: 'fenced_out', nextAttemptAtMs: null });
			assert.deepEqual(await nextKeys(store, search(scope)), []);
		},
	},
	{
		name: 'a lease that is over is handed out again, and who had it before ends nothing',
		hazard: 'H16 of the outbox',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			await store.addMessages([message(scope, 'a')]);
			const zombie = await nextBriefly(world, store, search(scope));
			const owner = await nextOne(store, search(scope));
			assert.deepEqual([owner.id, owner.attempt], [zombie.id, 2]);
			assert.ok(BigInt(owner.fence) > BigInt(zombie.fence));
			const half = [zombie, { ...zombie, fence: owner.fence }, { ...zombie, owner: owner.owner }, { ...owner, id: '9' }];
			for (const one of half) {
				for (const to of [SENT, failed()]) {
					assert.deepEqual(await endOne(store, one, to), { verdict: 'fenced_out', nextAttemptAtMs: null });
				}
			}
			assert.equal((await endOne(store, owner, SENT)).verdict, 'sent');
			assert.equal((await endOne(store, zombie, SENT)).verdict, 'fenced_out');
		},
	},
	{
		name: 'who comes late still ends his message, if nobody has taken it',
		hazard: 'T7 of the outbox',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			await store.addMessages([message(scope, 'a')]);
			const late = await nextBriefly(world, store, search(scope));
			assert.equal((await endOne(store, late, SENT)).verdict, 'sent');
		},
	},
	{
		name: 'taking a message over and ending it at the same moment: exactly one of them has it',
		hazard: 'H16 of the outbox',
		async run(world) {
			const scope = world.newScope();
			const [mine, theirs] = (await openMany(world, 2)) as [Store, Store];
			for (let round = 0; round < 40; round++) {
				await mine.addMessages([message(scope, `m${round}`)]);
				const leased = await nextBriefly(world, mine, search(scope));
				const [end, taken] = await Promise.all([endOne(mine, leased, SENT), theirs.nextMessages(search(scope))]);
				const outcome = `${end.verdict} ${taken.length}`;
				assert.ok(['sent 0', 'fenced_out 1'].includes(outcome), outcome);
				for (const one of taken) await endOne(theirs, one, SENT);
			}
		},
	},
	{
		name: 'a failed message comes back when its wait is over, with its error, and is dead when its attempts are used up',
		hazard: 'T8, T9 of the outbox',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			await store.addMessages([message(scope, 'a'), message(scope, 'waits')]);
			const [first, waiting] = (await store.nextMessages(search(scope))) as [LeasedMessage, LeasedMessage];
			const now = await world.now();
			const { verdict, nextAttemptAtMs } = await endOne(store, waiting, failed(HOUR));
			assert.equal(verdict, 'failed');
			assert.ok((nextAttemptAtMs ?? 0) >= now + HOUR - 1 && (nextAttemptAtMs ?? 0) < now + 2 * HOUR);
			assert.deepEqual(await endOne(store, waiting, failed(HOUR)), { verdict: 'already', nextAttemptAtMs });

			assert.equal((await endOne(store, first, failed(0, 2))).verdict, 'failed');
			const second = await nextOne(store, search(scope));
			assert.deepEqual([second.messageKey, second.attempt, second.error], ['a', 2, 'HTTP 503']);
			assert.deepEqual(await endOne(store, second, failed(0, 2)), { verdict: 'dead', nextAttemptAtMs: null });
			assert.deepEqual(await endOne(store, second, failed(0, 2)), { verdict: 'already', nextAttemptAtMs: null });
			assert.equal((await endOne(store, second, SENT)).verdict, 'fenced_out');
			assert.deepEqual(await nextKeys(store, search(scope)), []);
		},
	},
	{
		name: 'waits grow with the attempts up to the cap, and differ',
		hazard: 'T8 of the outbox',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			await store.addMessages(Array.from({ length: 40 }, (_, n) => message(scope, `m${n}`)));
			const growing = { ...failed(), retryAfterMs: { baseMs: HOUR, capMs: 3 * HOUR } } as ReturnType<typeof failed>;
			for (const most of [HOUR, 2 * HOUR, 3 * HOUR]) {
				const leased = await store.nextMessages(search(scope));
				assert.equal(leased.length, 40);
				const began = await world.now();
				const waits = await Promise.all(
					leased.map(async (one) => ((await endOne(store, one, growing)).nextAttemptAtMs ?? 0) - began),
				);
				assert.ok(waits.every((wait) => wait > -2 && wait < most + 60_000), `${waits.join(' ')} for at most ${most}`);
				assert.ok(Math.max(...waits) > most / 2, 'of 40 waits one is in the upper half');
				assert.ok(new Set(waits).size > 30, 'messages that failed together do not come back together');
				if (most === 3 * HOUR) return;
				// What waits is not due. The same receipt, asked again with no wait, is not another failure.
				assert.deepEqual(await nextKeys(store, search(scope)), []);
				await world.passTime?.(3 * HOUR);
			}
		},
		needs: ['passing_time'],
	},
	{
		name: 'a delayed message is not handed out before its time',
		hazard: 'T12 of the outbox',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			await store.addMessages([message(scope, 'later', { delayMs: HOUR }), message(scope, 'soon', { delayMs: 300 })]);
			const added = await world.now();
			assert.deepEqual(await nextKeys(store, search(scope)), []);
			await until(async () => (await world.now()) > added + 301);
			assert.deepEqual(await nextKeys(store, search(scope)), ['soon']);
		},
	},
	{
		name: 'scopes and topics are apart, unless nobody asks',
		hazard: 'H21 of the outbox',
		async run(world) {
			const [one, two] = [world.newScope(), world.newScope()];
			const store = await world.open();
			await store.addMessages(
				[one, two].flatMap((scope) => ['mail', 'crm'].map((topic) => message(scope, topic, { topic, orderingKey: 'k' }))),
			);
			assert.deepEqual(await nextKeys(store, search(one, { topic: 'bill' })), []);
			assert.deepEqual(await nextKeys(store, search(one, { topic: 'crm' })), ['crm']);
			assert.deepEqual(await nextKeys(store, search(one)), ['mail']);
			const rest = await store.nextMessages(search(one, { scope: null, limit: 10_000 }));
			const mine = rest.filter(({ scope }) => scope === two).map(({ topic }) => topic);
			assert.deepEqual(mine, ['mail', 'crm']);
		},
	},
	{
		name: 'asked again with the same token, a caller has the same messages with a new lease, and no others',
		hazard: 'T2 of the outbox',
		async run(world) {
			const scope = world.newScope();
			const [store, other] = (await openMany(world, 2)) as [Store, Store];
			await store.addMessages([1, 2, 3, 4].map((n) => message(scope, `m${n}`)));
			const wanted = search(scope, { limit: 2, leaseMs: 60_000 });
			const first = await store.nextMessages(wanted);
			const again = await other.nextMessages({ ...wanted, leaseMs: HOUR });
			const receipt = ({ id, fence, attempt }: LeasedMessage): unknown => ({ id, fence, attempt });
			assert.deepEqual(again.map(receipt), first.map(receipt));
			for (const [n, { leaseUntilMs }] of again.entries()) assert.ok(leaseUntilMs > (first[n]?.leaseUntilMs ?? 0));
			assert.deepEqual(await nextKeys(store, search(scope)), ['m3', 'm4']);
		},
	},
	{
		name: 'a lost answer loses no message, doubles none, and ends none twice',
		hazard: 'H44 of the outbox',
		needs: ['lost_answers'],
		async run(world) {
			const scope = world.newScope();
			const lossy = await world.openLossy?.();
			assert.ok(lossy);
			const { store } = lossy;
			await store.nextMessages(search(scope));
			for (let round = 0; round < 5; round++) {
				lossy.loseAnswers(1);
				// It is stored; that it was this call which stored it is what got lost.
				assert.deepEqual(await store.addMessages([message(scope, `m${round}`)]), ['already_added']);
				lossy.loseAnswers(1);
				const leased = await nextOne(store, search(scope, { limit: 1 }));
				assert.deepEqual([leased.messageKey, leased.attempt], [`m${round}`, 1]);
				lossy.loseAnswers(1);
				assert.deepEqual(await endOne(store, leased, SENT), { verdict: 'already', nextAttemptAtMs: null });
			}
			assert.equal(lossy.lost(), 15);
		},
	},
];
