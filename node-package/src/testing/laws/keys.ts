import assert from 'node:assert';
import type { Law } from '../world';
import { ask, claimOne, count, failure, key, settleOne } from './cast';

/** Keys are what they are, byte for byte. */
export const keys: readonly Law[] = [
	{
		name: 'odd keys are all different, and come back as they were given',
		hazard: 'H22-H27',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open({ patienceMs: 60_000 });
			assert.equal(new Set(ODD).size, ODD.length, 'the list itself');
			const owned = ODD.map((id) => ask(key(scope, id)));
			const replies = await store.claim(owned);
			replies.forEach(({ verdict }, n) => assert.equal(verdict, 'claimed', JSON.stringify(ODD[n])));
			for (const [n, one] of owned.entries()) {
				const again = await claimOne(store, one);
				assert.deepEqual([again.verdict, again.fence], ['reentrant', replies[n]?.fence], JSON.stringify(ODD[n]));
				assert.equal((await store.find(one.key))?.fence, replies[n]?.fence);
			}
			assert.deepEqual(count(await store.claim(ODD.map((id) => ask(key(scope, id))))), { in_progress: ODD.length });
			const ends = await store.settle(
				owned.map(({ key: at, owner }, n) => ({
					key: at,
					owner,
					fence: replies[n]?.fence as string,
					to: { state: 'completed' as const },
				})),
			);
			assert.deepEqual(count(ends), { settled: ODD.length });
		},
	},
	{
		name: 'three fields are never one text: what joins alike is not alike',
		hazard: 'H23',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const alike = [
				[`${scope}a`, 'b', 'c'],
				[scope, 'ab', 'c'],
				[scope, 'a', 'bc'],
				[`${scope}:a`, 'b', 'c'],
				[scope, 'a:b', 'c'],
				[scope, 'a', 'b:c'],
			] as const;
			const asks = alike.map(([one, provider, id]) => ask(key(one, id, provider)));
			assert.deepEqual(count(await store.claim(asks)), { claimed: alike.length });
		},
	},
	{
		name: 'scopes may be odd too',
		hazard: 'H24',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const scopes = ['', ' ', 'A', 'a', '\u00e9', 'e\u0301', "'; --", '"', '\\'].map((end) => `${scope}${end}`);
			assert.deepEqual(count(await store.claim(scopes.map((one) => ask(key(one, 'evt_1'))))), { claimed: scopes.length });
		},
	},
	{
		name: 'what cannot be a key is refused by name, before anything is written',
		hazard: 'H27, H28',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const good = key(scope, 'good');
			const bad = [
				key(scope, ''),
				key(scope, 'x'.repeat(513)),
				key(scope, '\u00e9'.repeat(257)),
				key(scope, 'a\0b'),
				key(scope, 'a\ud800b'),
				key(scope, '\udc00'),
				key('', 'evt_1'),
				key(scope, 'evt_1', ''),
				key(`${scope}\0`, 'evt_1'),
			];
			for (const at of bad) {
				const error = await failure(store.claim([ask(good), ask(at)]));
				assert.equal(error.code, 'store_refused_key', JSON.stringify(at));
			}
			assert.equal(await store.find(good), null);
			const longest = [key(scope, 'y'.repeat(512)), key(scope, '\u00e9'.repeat(256)), key(scope, '\u{1f600}'.repeat(128))];
			assert.deepEqual(count(await store.claim(longest.map((at) => ask(at)))), { claimed: 3 });
		},
	},
	{
		name: 'texts for people never stand in the way of a claim',
		hazard: 'H28',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const nasty = ['a\0b', '\ud800', 'z'.repeat(100_000), '', '\u{1f600}'.repeat(300)];
			for (const [n, text] of nasty.entries()) {
				const owned = ask(key(scope, `evt_${n}`), { eventType: text, executionId: text });
				const { verdict, fence } = await claimOne(store, owned);
				assert.equal(verdict, 'claimed');
				const result = { text: 'a\0b\ud800', list: ['{}', ','] };
				assert.equal((await settleOne(store, owned, fence, { state: 'completed', result })).verdict, 'settled');
				assert.deepEqual((await claimOne(store, ask(owned.key))).result, result);
				const failing = ask(key(scope, `bad_${n}`));
				const claim = await claimOne(store, failing);
				assert.equal((await settleOne(store, failing, claim.fence, { state: 'dead', error: text })).verdict, 'settled');
			}
		},
	},
	{
		name: 'the same key with another body is a flagged duplicate, or refused where that is asked for',
		hazard: 'H2 of the payload',
		async run(world) {
			const scope = world.newScope();
			const store = await world.open();
			const [one, other] = [`sha256:${'1'.repeat(64)}`, `sha256:${'2'.repeat(64)}`];
			const at = key(scope, 'evt_1');
			const owned = ask(at, { bodyDigest: one });
			const { fence } = await claimOne(store, owned);
			const judged = async (bodyDigest: string | null, payloadChanged: 'duplicate' | 'reject') => {
				const reply = await claimOne(store, ask(at, { bodyDigest, payloadChanged }));
				return [reply.verdict, reply.payloadChanged, reply.state];
			};
			assert.deepEqual(await judged(one, 'reject'), ['in_progress', false, 'processing']);
			assert.deepEqual(await judged(other, 'duplicate'), ['in_progress', true, 'processing']);
			assert.deepEqual(await judged(other, 'reject'), ['payload_mismatch', true, 'processing']);
			assert.deepEqual(await judged(null, 'reject'), ['in_progress', false, 'processing']);
			await settleOne(store, owned, fence, { state: 'completed' });
			assert.deepEqual(await judged(other, 'duplicate'), ['completed', true, 'completed']);
			assert.deepEqual(await judged(other, 'reject'), ['payload_mismatch', true, 'completed']);
		},
	},
];

const ODD: readonly string[] = [
	...['evt_a', 'evt_A', 'EVT_A', ' evt_a', 'evt_a ', 'evt_a\t', 'evt_a\n', '\u00a0evt_a', 'evt_a\u200b'],
	// Composed, decomposed, compatible, Turkish, German: one reader's same letter.
	...['caf\u00e9', 'cafe\u0301', '\u212b', '\u00c5', 'A\u030a', 'i', 'I', '\u0131', '\u0130', 'ss', '\u00df', '\ufb01', 'fi'],
	...['0', '00', '-0', '0.0', '1e3', '1000', '9196877626998784', '9196877626998785', 'null', 'NULL', 'true', 'undefined', 'NaN'],
	...["'", "''", '"', '""', '\\', '\\\\', '\\0', '\\x41', '%', '_', '$1', '{}', '{', '}', '{a,b}', '{"a","b"}', 'a,b', ','],
	...["'; DELETE; --", '--', '/* */', '(a)', '[1]', '{"id":1}', '\u0001', '\u007f', '\u2028', '\u202e', '\ufeff'],
	...['\u{1f600}', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', '\ufe0f', '\uffff', '\u{10ffff}', '\ue000', '\u{10000}'],
	...['x'.repeat(511), 'x'.repeat(512), `${'x'.repeat(510)}\u00e9`, `${'x'.repeat(510)}e\u0301`.slice(0, 511)],
	...[' ', '\t', '\r\n', '/', '../..', 'a/b', 'a b', 'a  b', 'constructor', '__proto__', 'toString'],
];
