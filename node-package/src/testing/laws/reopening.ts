import assert from 'node:assert';
import type { Reopening, ReopeningReply, Resolution, ResolutionReply } from '../../store/lifecycle';
import type { ClaimAsk, EventKey, Settle, Store } from '../../store/store';
import type { Law, World } from '../world';
import {
	ask,
	behindBarrier,
	claimBriefly,
	claimOne,
	count,
	HOUR,
	key,
	newOwner,
	openMany,
	OURS,
	owned,
	search,
	settleOne,
} from './cast';

/** What only a person does: have a finished event handled once more, or say what became of an uncertain one. */
export const reopening: readonly Law[] = [
	{
		name: 'a finished event is reopened for whoever asks, with a new fence; nobody else has it',
		hazard: 'T14',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			for (const to of FINISHED) {
				const first = ask(key(scope, to.state));
				const { fence } = await claimOne(store, first);
				await store.advance([{ ...owned(first, fence), stage: 'paid', stages: ['paid'] }]);
				await settleOne(store, first, fence, to);
				const order = reopenOrder(first.key, { executionId: 'exec 9' });
				const reply = await reopenOne(store, order);
				assert.deepEqual(
					[reply.verdict, reply.state, reply.attempt, reply.stage, reply.eventType, reply.payload],
					['reopened', 'processing', 2, 'paid', 'invoice.paid', null],
				);
				assert.ok(BigInt(reply.fence ?? 0) > BigInt(fence ?? 0));
				const record = await store.find(first.key);
				assert.deepEqual(
					[record?.state, record?.owner, record?.fence, record?.error, record?.executionId, record?.result],
					['processing', order.owner, reply.fence, 'customer asked', 'exec 9', null],
				);
				assert.deepEqual([reply.leaseUntilMs, reply.firstSeenAtMs], [record?.leaseUntilMs, record?.firstSeenAtMs]);
				assert.equal((await claimOne(store, ask(first.key))).verdict, 'in_progress');
				assert.equal((await settleOne(store, first, fence, { state: 'completed' })).verdict, 'fenced_out');
				const [end] = await store.settle([{ ...order, fence: reply.fence as string, to: { state: 'completed' } }]);
				assert.deepEqual(end, { verdict: 'settled', state: 'completed' });
			}
		},
	},
	{
		name: 'what is being seen to already is not reopened, and what does not exist is not found',
		hazard: 'T14',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const live = ask(key(scope, 'live'));
			await claimOne(store, live);
			const stale = ask(key(scope, 'stale'));
			await claimBriefly(world, store, stale);
			const failed = ask(key(scope, 'failed'));
			const { fence } = await claimOne(store, failed);
			await settleOne(store, failed, fence, { state: 'failed', error: 'x', retryAfterMs: 0, maxAttempts: 5 });
			for (const [{ key: at }, state] of [[live, 'processing'], [stale, 'processing'], [failed, 'failed']] as const) {
				const before = await store.find(at);
				const reply = await reopenOne(store, reopenOrder(at));
				assert.deepEqual([reply.verdict, reply.state, reply.fence], ['not_finished', state, null]);
				assert.deepEqual(await store.find(at), before);
			}
			const nobody = await reopenOne(store, reopenOrder(key(scope, 'nobody')));
			assert.deepEqual([nobody.verdict, nobody.state], ['not_found', null]);
			assert.equal(await store.find(key(scope, 'nobody')), null);
		},
	},
	{
		name: 'two persons reopen one event at once: one of them has it',
		hazard: 'T14',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 6);
			for (let round = 0; round < 15; round++) {
				const at = await finished(stores[0] as Store, key(scope, `evt_${round}`));
				const replies = await behindBarrier(stores.map((store) => async () => await reopenOne(store, reopenOrder(at))));
				assert.deepEqual(count(replies), { reopened: 1, not_finished: 5 });
				assert.equal((await stores[0]?.find(at))?.attempt, 2);
			}
		},
	},
	{
		name: 'reopening and redelivering at once: the redelivery is a duplicate, before and after',
		hazard: 'T14',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 6);
			for (let round = 0; round < 15; round++) {
				const at = await finished(stores[0] as Store, key(scope, `evt_${round}`));
				const answers = await behindBarrier(
					stores.map((store, n) => async () =>
						n === 0 ? (await reopenOne(store, reopenOrder(at))).verdict : (await claimOne(store, ask(at))).verdict,
					),
				);
				assert.equal(answers[0], 'reopened');
				assert.equal(answers.filter((verdict) => OURS.has(verdict)).length, 0, answers.join());
			}
		},
	},
	{
		name: 'reopened with the same token it is the same claim once more: a lost answer does no harm',
		hazard: 'H2',
		needs: ['lost_answers'],
		async run(world) {
			const lossy = await world.openLossy?.();
			assert.ok(lossy);
			const at = await finished(lossy.store, key(world.newScope(), 'evt_1'));
			const order = reopenOrder(at);
			lossy.loseAnswers(1);
			const reply = await reopenOne(lossy.store, order);
			assert.deepEqual([reply.verdict, reply.attempt, lossy.lost()], ['reopened', 2, 1]);
			const again = await lossy.store.reopen([order, order, reopenOrder(at)]);
			assert.deepEqual(
				again.map(({ verdict, fence, attempt }) => [verdict, fence, attempt]),
				[['reopened', reply.fence, 2], ['reopened', reply.fence, 2], ['not_finished', null, null]],
			);
		},
	},
	{
		name: 'a dead event whose guard another one holds by now is not reopened beside it',
		hazard: 'H55',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const guards = [{ kind: 'business_key', key: 'order 1 paid' }] as const;
			const first = ask(key(scope, 'first'), { guards });
			await settleOne(store, first, (await claimOne(store, first)).fence, { state: 'dead', error: 'x' });
			// As long as nobody has taken it, its guard is its own.
			const mine = reopenOrder(first.key);
			const reply = await reopenOne(store, mine);
			assert.equal(reply.verdict, 'reopened');
			assert.equal((await claimOne(store, ask(key(scope, 'rival'), { guards }))).verdict, 'business_duplicate');
			await store.settle([{ ...mine, fence: reply.fence as string, to: { state: 'dead', error: 'x' } }]);

			const second = ask(key(scope, 'second'), { guards });
			const { fence } = await claimOne(store, second);
			const refused = await reopenOne(store, reopenOrder(first.key));
			assert.deepEqual([refused.verdict, refused.state, refused.fence], ['guard_taken', 'dead', null]);
			await settleOne(store, second, fence, { state: 'completed' });
			assert.equal((await reopenOne(store, reopenOrder(first.key))).verdict, 'guard_taken');
			assert.equal((await store.find(first.key))?.state, 'dead');
		},
	},
	{
		name: 'a dead event is reopened while others take its guard: one of them has the fact',
		hazard: 'H55',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 6);
			for (let round = 0; round < 25; round++) {
				const guards = [
					{ kind: 'business_key', key: `fact ${round}` },
					{ kind: 'business_key', key: `other fact ${round}` },
				] as const;
				const first = ask(key(scope, `m_${round}`), { guards });
				const dead = await claimOne(stores[0] as Store, first);
				await settleOne(stores[0] as Store, first, dead.fence, { state: 'dead', error: 'x' });
				// Events before and after it in the order of keys, with one guard and with both.
				const rivals = ['a', 'b', 'y', 'z'].map((name, n) =>
					ask(key(scope, `${name}_${round}`), { guards: n % 2 === 0 ? guards : guards.slice(0, 1) }),
				);
				const answers = await behindBarrier(
					stores.slice(0, 5).map((store, n) => async () =>
						n === 0
							? (await reopenOne(store, reopenOrder(first.key))).verdict
							: (await claimOne(store, rivals[n - 1] as ClaimAsk)).verdict,
					),
				);
				const taken = answers.filter((verdict) => verdict === 'claimed').length;
				assert.equal(taken, answers[0] === 'reopened' ? 0 : 1, answers.join());
				assert.ok(['reopened', 'guard_taken'].includes(answers[0] ?? ''), answers.join());
			}
		},
	},
	{
		name: 'a person ends uncertainty: completed with its result, failed to be tried again, or dead',
		hazard: 'T13',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const done = await uncertain(store, key(scope, 'done'));
			assert.deepEqual(await resolveOne(store, { ...done, to: { state: 'completed', result: { charge: 'ch_1' } } }), {
				verdict: 'resolved',
				state: 'completed',
			});
			const duplicate = await claimOne(store, ask(done.key));
			assert.deepEqual([duplicate.verdict, duplicate.result], ['completed', { charge: 'ch_1' }]);
			const record = await store.find(done.key);
			assert.deepEqual([record?.error, record?.fence], ['looked it up', done.fence]);
			assert.ok((record?.completedAtMs ?? 0) > 0);

			const again = await uncertain(store, key(scope, 'again'));
			assert.equal((await resolveOne(store, { ...again, to: { state: 'failed', retryAfterMs: HOUR } })).state, 'failed');
			assert.equal((await claimOne(store, ask(again.key))).verdict, 'backoff');
			const due = await uncertain(store, key(scope, 'due'));
			await resolveOne(store, { ...due, to: { state: 'failed', retryAfterMs: 0 } });
			const [found] = await store.recover(search({ scope }));
			assert.deepEqual([found?.key.eventId, found?.verdict, found?.error], ['due', 'retried', 'looked it up']);

			const given = await uncertain(store, key(scope, 'given up'));
			// Without a fence: whichever record it is now.
			await resolveOne(store, { ...given, fence: null, to: { state: 'dead' } });
			assert.equal((await claimOne(store, ask(given.key))).verdict, 'dead');
		},
	},
	{
		name: 'only what is uncertain is resolved, and only the record that the person has looked at',
		hazard: 'T13, H16',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const resolve = async (at: EventKey, fence: string | null, state: 'completed' | 'dead' = 'completed') =>
				await resolveOne(store, { ...resolution(at, fence), to: { state } });
			const live = ask(key(scope, 'live'));
			const { fence } = await claimOne(store, live);
			assert.deepEqual(await resolve(live.key, fence), { verdict: 'not_uncertain', state: 'processing' });
			await settleOne(store, live, fence, { state: 'dead', error: 'x' });
			assert.deepEqual(await resolve(live.key, fence), { verdict: 'not_uncertain', state: 'dead' });
			assert.deepEqual(await resolve(key(scope, 'nobody'), null), { verdict: 'not_found', state: null });

			const looked = await uncertain(store, key(scope, 'looked at'));
			const order = reopenOrder(looked.key);
			const reopened = await reopenOne(store, order);
			await store.settle([{ ...order, fence: reopened.fence as string, to: { state: 'uncertain', error: 'y' } }]);
			assert.deepEqual(await resolve(looked.key, looked.fence), { verdict: 'fenced_out', state: 'uncertain' });
			assert.deepEqual(await resolve(looked.key, reopened.fence), { verdict: 'resolved', state: 'completed' });
			assert.deepEqual(await resolve(looked.key, reopened.fence), { verdict: 'already', state: 'completed' });
			assert.deepEqual(await resolve(looked.key, reopened.fence, 'dead'), { verdict: 'not_uncertain', state: 'completed' });
		},
	},
	{
		name: 'two persons resolve one event at once: it ends as one of them said, and the other knows',
		hazard: 'T13',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 4);
			for (let round = 0; round < 15; round++) {
				const one = await uncertain(stores[0] as Store, key(scope, `evt_${round}`));
				const replies = await behindBarrier(
					stores.map((store, n) => async () => await resolveOne(store, { ...one, to: { state: n < 2 ? 'completed' : 'dead' } })),
				);
				const winner = replies.find(({ verdict }) => verdict === 'resolved');
				assert.ok(winner);
				assert.deepEqual(count(replies), { resolved: 1, already: 1, not_uncertain: 2 });
				assert.equal((await stores[0]?.find(one.key))?.state, winner.state);
			}
		},
	},
	{
		name: 'a resolution whose answer was lost is found again',
		hazard: 'H2',
		needs: ['lost_answers'],
		async run(world) {
			const lossy = await world.openLossy?.();
			assert.ok(lossy);
			const one = await uncertain(lossy.store, key(world.newScope(), 'evt_1'));
			lossy.loseAnswers(1);
			const reply = await resolveOne(lossy.store, { ...one, to: { state: 'completed', result: 1 } });
			assert.deepEqual([reply, lossy.lost()], [{ verdict: 'already', state: 'completed' }, 1]);
		},
	},
	{
		name: 'hold and the number of attempts outlive reopening',
		hazard: 'T5, T14',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const held = ask(key(scope, 'held'), { unfinished: 'hold' });
			await settleOne(store, held, (await claimOne(store, held)).fence, { state: 'completed' });
			await reopenBriefly(world, store, held.key);
			assert.deepEqual(count(await store.recover(search({ scope }))), { held: 1 });
			const once = ask(key(scope, 'once'), { maxAttempts: 1 });
			await settleOne(store, once, (await claimOne(store, once)).fence, { state: 'completed' });
			await reopenBriefly(world, store, once.key);
			assert.deepEqual(count(await store.recover(search({ scope }))), { exhausted: 1 });
		},
	},
];

const FINISHED = [
	{ state: 'completed', result: 1 },
	{ state: 'dead', error: 'x' },
	{ state: 'uncertain', error: 'x' },
] as const satisfies ReadonlyArray<Settle['to']>;

function reopenOrder(at: EventKey, more: Partial<Reopening> = {}): Reopening {
	return { key: at, owner: newOwner(), reason: 'customer asked', leaseMs: HOUR, executionId: null, ...more };
}

async function reopenOne(store: Store, order: Reopening): Promise<ReopeningReply> {
	const [reply] = await store.reopen([order]);
	assert.ok(reply);
	return reply;
}

/** Reopens it with a lease that is over by the store's clock when this returns. */
async function reopenBriefly(world: World, store: Store, at: EventKey): Promise<void> {
	const order = reopenOrder(at, { leaseMs: 1 });
	assert.equal((await reopenOne(store, order)).verdict, 'reopened');
	// The same owner again, to wait for the end of a lease in one way.
	await claimBriefly(world, store, ask(at, { owner: order.owner }));
}

async function finished(store: Store, at: EventKey): Promise<EventKey> {
	const done = ask(at);
	await settleOne(store, done, (await claimOne(store, done)).fence, { state: 'completed' });
	return at;
}

/** Of an event whose outcome is uncertain by now. */
async function uncertain(store: Store, at: EventKey): Promise<Omit<Resolution, 'to'>> {
	const unsure = ask(at);
	const { fence } = await claimOne(store, unsure);
	await settleOne(store, unsure, fence, { state: 'uncertain', error: 'x' });
	return resolution(at, fence);
}

function resolution(at: EventKey, fence: string | null): Omit<Resolution, 'to'> {
	return { key: at, fence, reason: 'looked it up' };
}

async function resolveOne(store: Store, order: Resolution): Promise<ResolutionReply> {
	const [reply] = await store.resolve([order]);
	assert.ok(reply);
	return reply;
}
