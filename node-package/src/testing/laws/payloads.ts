import assert from 'node:assert';
import type { EventKey, SavedPayload, Store } from '../../store/store';
import type { Law } from '../world';
import { ask, claimBriefly, claimOne, count, failure, HOUR, key, newestLetter, newOwner, search, settleOne } from './cast';
import { message } from './messages';

/** The delivery itself, saved so that the recovery can hand it out again, and only as long as it may be needed. */
export const payloads: readonly Law[] = [
	{
		name: 'what was saved comes back byte for byte, to whoever looks and to the recovery',
		hazard: 'H28 of saved deliveries',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const everyByte = Uint8Array.from({ length: 256 }, (_, n) => n);
			const bodies = {
				empty: new Uint8Array(0),
				NUL: Uint8Array.of(0),
				'not text': Uint8Array.of(0xff, 0xfe, 0x00, 0x80, 0xc3, 0x28),
				'every byte': everyByte,
				'part of another array': everyByte.subarray(100, 200),
				json: new TextEncoder().encode('{"a":1.0,"a":"\\u0000","b":12345678901234567890}'),
				large: Uint8Array.from({ length: 300_000 }, (_, n) => (n * n) % 251),
			};
			const headers = [
				['Content-Type', 'application/json'],
				['x-twice', 'one'],
				['X-Twice', 'two'],
				['x-odd', '"\\ \u00ff \u0000 \ud800 \u{1f600}'],
				['', ''],
			] as const;
			for (const [name, body] of Object.entries(bodies)) {
				const expected = { headers, body: Uint8Array.from(body) };
				const wanted = ask(key(scope, name), { payload: { headers, body, keep: 'until_completed' } });
				await claimBriefly(world, store, wanted);
				assert.deepEqual(await store.findPayload(wanted.key), expected, name);
				const [found] = await store.recover(search({ scope }));
				assert.deepEqual([found?.key, found?.payload], [wanted.key, expected], name);
			}
			assert.equal(await store.findPayload(key(scope, 'nobody')), null);
			const none = ask(key(scope, 'none saved'));
			await claimOne(store, none);
			assert.equal(await store.findPayload(none.key), null);
		},
	},
	{
		name: 'what the first delivery saved stays, whatever later ones bring; who saves first is first',
		hazard: 'saved deliveries',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const at = key(scope, 'evt_1');
			await claimBriefly(world, store, ask(at, { payload: saved('first') }));
			await claimOne(store, ask(at, { payload: saved('taken over'), leaseMs: HOUR }));
			await claimOne(store, ask(at, { payload: saved('duplicate') }));
			assert.equal(await savedText(store, at), 'first');

			const later = key(scope, 'evt_2');
			await claimBriefly(world, store, ask(later));
			assert.equal((await claimOne(store, ask(later, { payload: saved('second'), leaseMs: HOUR }))).verdict, 'taken_over');
			assert.equal(await savedText(store, later), 'second');
		},
	},
	{
		name: 'a saved delivery goes when its claim is completed, whoever completes it, unless it is to be kept',
		hazard: 'saved deliveries',
		async run(world) {
			const store = await world.open();
			for (const keep of ['until_completed', 'always'] as const) {
				const scope = world.newScope();
				const left = keep === 'always' ? 'body' : null;
				const begin = async (id: string): Promise<ReturnType<typeof ask> & { fence: string | null }> => {
					const wanted = ask(key(scope, id), { payload: { ...saved('body'), keep } });
					return { ...wanted, fence: (await claimOne(store, wanted)).fence };
				};
				const settled = await begin('settled');
				await settleOne(store, settled, settled.fence, { state: 'completed' });
				assert.equal(await savedText(store, settled.key), left);

				const sending = await begin('settled with a message');
				const outbox = [message(scope, 'sent')];
				await settleOne(store, sending, sending.fence, { state: 'completed', outbox });
				assert.equal(await savedText(store, sending.key), left);

				for (const to of [
					{ state: 'failed', error: 'x', retryAfterMs: HOUR, maxAttempts: 5 },
					{ state: 'dead', error: 'x' },
					{ state: 'uncertain', error: 'x' },
				] as const) {
					const ended = await begin(to.state);
					await settleOne(store, ended, ended.fence, to);
					assert.equal(await savedText(store, ended.key), 'body', to.state);
				}
				const unsure = key(scope, 'uncertain');
				await store.resolve([{ key: unsure, fence: null, to: { state: 'completed' }, reason: 'x' }]);
				assert.equal(await savedText(store, unsure), left);
				const dead = key(scope, 'dead');
				const order = { key: dead, owner: newOwner(), reason: 'x', leaseMs: HOUR, executionId: null };
				const [reopened] = await store.reopen([order]);
				assert.equal(text(reopened?.payload ?? null), 'body');
				await store.settle([{ ...order, fence: reopened?.fence as string, to: { state: 'completed' } }]);
				assert.equal(await savedText(store, dead), left);

				const taken = ask(key(scope, 'taken over'), { payload: { ...saved('body'), keep } });
				await claimBriefly(world, store, taken);
				const done = await claimOne(store, ask(taken.key, { unfinished: 'complete_on_claim' }));
				assert.deepEqual([done.verdict, done.state], ['taken_over', 'completed']);
				assert.equal(await savedText(store, taken.key), left);
			}
		},
	},
	{
		name: 'what is completed when it is claimed is not saved; what a deleted claim left behind means nothing',
		hazard: 'saved deliveries',
		needs: ['deletion'],
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const once = ask(key(scope, 'once'), { unfinished: 'complete_on_claim', payload: { ...saved('x'), keep: 'always' } });
			await claimOne(store, once);
			assert.equal(await savedText(store, once.key), null);

			const deleted = ask(key(scope, 'deleted'), { payload: saved('old') });
			await claimOne(store, deleted);
			await world.remove?.(deleted.key);
			assert.equal(await savedText(store, deleted.key), null);
			const again = await claimOne(store, ask(deleted.key, { payload: saved('new') }));
			assert.equal(again.verdict, 'claimed');
			assert.equal(await savedText(store, deleted.key), 'new');
		},
	},
	{
		name: 'deliveries of many megabytes in one call are saved, each with its own claim',
		hazard: 'saved deliveries',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const asks = Array.from({ length: 12 }, (_, n) =>
				ask(key(scope, `evt_${n}`), { payload: { headers: [], body: new Uint8Array(3_000_000).fill(n), keep: 'always' } }),
			);
			const replies = await store.claim(asks);
			assert.deepEqual(new Set(replies.map(({ verdict }) => verdict)), new Set(['claimed']));
			for (const [n, { key: at }] of asks.entries()) {
				const body = (await store.findPayload(at))?.body;
				assert.deepEqual([body?.length, body?.[0], body?.at(-1)], [3_000_000, n, n]);
			}
		},
	},
	{
		name: 'however large saved deliveries are, recoveries and looks at dead letters get some of them, and the rest later',
		hazard: 'H48 of saved deliveries',
		async run(world) {
			const store = await world.open();
			const scope = world.newScope();
			const megabytes = (many: number) => ({ payload: { headers: [], body: new Uint8Array(many * 1024 * 1024), keep: 'until_completed' } }) as const;
			const large = Array.from({ length: 5 }, (_, n) => ask(key(scope, `large ${n}`), megabytes(7)));
			const small = ['small 0', 'small 1'].map((id) => ask(key(scope, id)));
			const huge = ask(key(scope, 'huge'), megabytes(17));
			for (const one of [...large, ...small, huge]) await claimBriefly(world, store, one);
			const after = await newestLetter(store);

			const calls: string[][] = [];
			while (calls.at(-1)?.length !== 0) {
				const found = await store.recover(search({ scope, limit: 1000, unfinished: 'hold' }));
				calls.push(found.map(({ key: { eventId } }) => eventId));
			}
			assert.deepEqual(calls, [['large 0', 'large 1'], ['large 2', 'large 3'], ['large 4', 'small 0', 'small 1'], ['huge'], []]);

			// Those of one call have died at the same time, in whatever order.
			const told: string[] = [];
			for (let seen = after; told.length < 8; ) {
				const letters = await store.deadLetters({ after: seen, missing: [], limit: 1000 });
				const bytes = letters.reduce((sum, { payload }) => sum + (payload?.body.length ?? 0), 0);
				assert.ok(letters.length > 0 && bytes <= 17 * 1024 * 1024, `${letters.length} letters, ${bytes} bytes`);
				seen = letters.at(-1)?.id ?? seen;
				told.push(...letters.map(({ claim }) => claim?.key.eventId ?? ''));
			}
			assert.deepEqual(told.sort(), calls.flat().sort());
			const all = calls.flat().map((id) => ({ key: key(scope, id), fence: null, to: { state: 'completed' }, reason: 'x' }) as const);
			assert.deepEqual(count(await store.resolve(all)), { resolved: 8 });
		},
	},
	{
		name: 'a delivery that cannot be saved is refused before anything is sent',
		hazard: 'H28 of saved deliveries',
		async run(world) {
			const store = await world.open();
			const at = key(world.newScope(), 'evt_1');
			const text = { headers: [], body: 'text', keep: 'always' } as unknown as SavedPayload;
			assert.equal((await failure(store.claim([ask(at, { payload: text })]))).code, 'store_refused_key');
			assert.equal(await store.find(at), null);
		},
	},
];

function saved(body: string): SavedPayload {
	return { headers: [['a', 'b']], body: new TextEncoder().encode(body), keep: 'until_completed' };
}

async function savedText(store: Store, at: EventKey): Promise<string | null> {
	return text(await store.findPayload(at));
}

function text(payload: { readonly body: Uint8Array } | null): string | null {
	return payload && new TextDecoder().decode(payload.body);
}
