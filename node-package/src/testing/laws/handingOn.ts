import assert from 'node:assert';
import type { Store } from '../../store/store';
import type { Law } from '../world';
import { ask, claimBriefly, claimOne, failure, holdOpen, HOUR, key, newOwner, settleOne } from './cast';
import { endOne, message, nextKeys, nextOne, search, SENT } from './messages';

/** Messages that come with a claim or its end are stored with it, or not at all. */
export const handingOn: readonly Law[] = [
	{
		name: 'messages come with a claim that becomes our own, in the order given, and with no other answer',
		hazard: 'outbox, T1, T4, T11',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const first = ask(key(scope, 'evt_1'), {
				guards: [{ kind: 'business_key', key: 'fact' }],
				outbox: ['z', 'a', 'm', 'a'].map((one, n) => message(scope, one, { orderingKey: 'in order', body: `${n}` })),
			});
			await claimBriefly(world, store, first);
			for (const [messageKey, body] of [['z', '0'], ['a', '1'], ['m', '2']] as const) {
				const next = await nextOne(store, search(scope));
				assert.deepEqual([next.messageKey, next.body], [messageKey, body]);
				await endOne(store, next, SENT);
			}
			const messages = (id: string) => ({ outbox: [message(scope, id)] });
			await claimOne(store, { ...first, ...messages('reentrant'), leaseMs: 1 });
			await claimBriefly(world, store, ask(first.key, { ...messages('taken over'), maxAttempts: 2 }));
			await claimOne(store, ask(key(scope, 'other'), { ...messages('business duplicate'), guards: first.guards }));
			await claimOne(store, ask(first.key, { ...messages('exhausted'), maxAttempts: 2 }));
			await claimOne(store, ask(first.key, messages('dead')));

			const failed = ask(key(scope, 'evt_2'), messages('fresh'));
			const to = { state: 'failed', error: 'x', retryAfterMs: 0, maxAttempts: 5 } as const;
			await settleOne(store, failed, (await claimOne(store, failed)).fence, to);
			const retried = ask(failed.key, { ...messages('retried'), unfinished: 'complete_on_claim' });
			assert.equal((await claimOne(store, retried)).verdict, 'retried');
			await claimOne(store, ask(failed.key, messages('completed')));
			await claimOne(store, ask(key(scope, 'evt_3'), { ...messages('at once'), unfinished: 'complete_on_claim' }));
			const [one, two] = [ask(key(scope, 'evt_4'), messages('batch')), ask(key(scope, 'evt_4'), messages('same batch'))];
			await store.claim([one, two]);
			assert.deepEqual((await left(store, scope)).sort(), ['at once', 'batch', 'fresh', 'retried', 'taken over']);
		},
	},
	{
		name: 'messages come with the end that completes a claim, late or not, and with no other end',
		hazard: 'outbox, T7',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const done = (id: string) => ({ state: 'completed', outbox: [message(scope, id)] }) as const;
			const mine = ask(key(scope, 'evt_1'));
			const { fence } = await claimOne(store, mine);
			assert.equal((await settleOne(store, mine, `${BigInt(fence as string) + 1n}`, done('fenced out'))).verdict, 'fenced_out');
			assert.equal((await settleOne(store, mine, fence, done('settled'))).verdict, 'settled');
			assert.equal((await settleOne(store, mine, fence, done('settled'))).verdict, 'already');
			const slow = ask(key(scope, 'evt_2'));
			assert.equal((await settleOne(store, slow, (await claimBriefly(world, store, slow)).fence, done('late'))).verdict, 'late');

			// Many in one call: each with its own, in the order of the call.
			const asks = ['c', 'a', 'b'].map((id) => ask(key(scope, id)));
			const replies = await store.claim(asks);
			await store.settle(
				asks.map(({ key: at, owner }, n) => ({ key: at, owner, fence: replies[n]?.fence as string, to: done(`of ${at.eventId}`) })),
			);
			assert.deepEqual((await left(store, scope)).sort(), ['late', 'of a', 'of b', 'of c', 'settled']);
		},
	},
	{
		name: 'a claim that is completed when it is made, and completed once more by its owner, has the messages and the result of that end',
		hazard: 'outbox, T7',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const mine = ask(key(scope, 'evt_1'), { unfinished: 'complete_on_claim' });
			const plain = ask(key(scope, 'evt_2'), { unfinished: 'complete_on_claim' });
			const [first, second] = await store.claim([mine, plain]);
			const fence = first?.fence ?? null;
			const before = await store.find(mine.key);
			const to = { state: 'completed', result: { charge: 'ch_1' }, outbox: [message(scope, 'receipt')] } as const;
			const already = { verdict: 'already', state: 'completed' };
			assert.deepEqual(await settleOne(store, mine, fence, to), already);
			assert.deepEqual(await settleOne(store, mine, fence, to), already);
			// Without messages it is another statement. The first result stays.
			assert.deepEqual(await settleOne(store, plain, second?.fence ?? null, { state: 'completed', result: 1 }), already);
			for (const outbox of [[], [message(scope, 'second')]]) {
				assert.deepEqual(await settleOne(store, plain, second?.fence ?? null, { state: 'completed', result: 2, outbox }), already);
			}
			assert.deepEqual(await store.find(mine.key), { ...before, result: { charge: 'ch_1' } });
			assert.equal((await store.find(plain.key))?.result, 1);
			assert.deepEqual((await left(store, scope)).sort(), ['receipt', 'second']);
			// Nobody else's, and no other end.
			const stranger = { ...mine, owner: newOwner() };
			const more = { state: 'completed', outbox: [message(scope, 'stranger')] } as const;
			assert.equal((await settleOne(store, stranger, fence, more)).verdict, 'fenced_out');
			assert.equal((await settleOne(store, mine, fence, { state: 'dead', error: 'no' })).verdict, 'fenced_out');
			assert.deepEqual(await left(store, scope), []);
		},
	},
	{
		name: 'a message whose key is there already is not stored again, and the claim is made all the same',
		hazard: 'outbox',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			await store.addMessages([message(scope, 'receipt', { body: '"first"' })]);
			const mine = ask(key(scope, 'evt_1'), { outbox: [message(scope, 'receipt', { body: '"second"' }), message(scope, 'new')] });
			const { verdict, fence } = await claimOne(store, mine);
			assert.equal(verdict, 'claimed');
			const outbox = [message(scope, 'receipt', { body: '"third"' })];
			assert.equal((await settleOne(store, mine, fence, { state: 'completed', outbox })).verdict, 'settled');
			const stored = await store.nextMessages(search(scope));
			assert.deepEqual(stored.map(({ messageKey, body }) => [messageKey, body]), [['receipt', '"first"'], ['new', '{}']]);
		},
	},
	{
		name: 'a claim or an end whose answer is lost stores its messages once',
		hazard: 'H2',
		needs: ['lost_answers'],
		async run(world) {
			const lossy = await world.openLossy?.();
			assert.ok(lossy);
			const scope = world.newScope();
			const mine = ask(key(scope, 'evt_1'), { outbox: [message(scope, 'claimed')] });
			lossy.loseAnswers(1);
			const { verdict, fence } = await claimOne(lossy.store, mine);
			assert.equal(verdict, 'reentrant');
			lossy.loseAnswers(1);
			const outbox = [message(scope, 'completed')];
			assert.equal((await settleOne(lossy.store, mine, fence, { state: 'completed', outbox })).verdict, 'already');
			assert.equal(lossy.lost(), 2);
			assert.deepEqual(await left(lossy.store, scope), ['claimed', 'completed']);
		},
	},
	{
		name: 'what is rolled back leaves neither claim nor message',
		hazard: 'outbox',
		needs: ['open_transactions'],
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const outbox = [message(scope, 'never')];
			const payload = { headers: [], body: new Uint8Array(1), keep: 'always' } as const;
			const mine = ask(key(scope, 'evt_1'), { outbox, payload, subject: { key: 'sub_1', version: '1' } });
			const undecided = await holdOpen(world, [mine]);
			await undecided.rollback();
			assert.deepEqual([await store.find(mine.key), await left(store, scope)], [null, []]);

			const { fence } = await claimOne(store, { ...mine, outbox: [] });
			const ending = await holdOpen(world, []);
			await settleOne(ending.store, mine, fence, { state: 'completed', outbox });
			await ending.rollback();
			assert.equal((await store.find(mine.key))?.state, 'processing');
			assert.deepEqual(await left(store, scope), []);
			assert.notEqual(await store.findPayload(mine.key), null);
		},
	},
	{
		name: 'a message that cannot be stored is refused before anything is sent, and there is no claim',
		hazard: 'outbox',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const at = key(scope, 'evt_1');
			const bad = { outbox: [message(scope, 'fine'), message(scope, '', { body: '{}' })] };
			assert.equal((await failure(store.claim([ask(at, bad)]))).code, 'store_refused_key');
			assert.equal(await store.find(at), null);
			assert.deepEqual(await left(store, scope), []);
			const mine = ask(at);
			const { fence } = await claimOne(store, mine);
			const to = { state: 'completed', outbox: [message(scope, 'x', { body: 'not JSON' })] } as const;
			assert.equal((await failure(settleOne(store, mine, fence, to))).code, 'store_refused_key');
			assert.equal((await store.find(at))?.state, 'processing');
		},
	},
];

/** Keys of the messages that are due, and takes them away. */
async function left(store: Store, scope: string): Promise<string[]> {
	return await nextKeys(store, search(scope, { owner: newOwner(), leaseMs: HOUR }));
}
