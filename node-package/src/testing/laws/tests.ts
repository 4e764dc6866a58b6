import assert from 'node:assert';
import type { Store } from '../../store/store';
import type { Law, World } from '../world';
import { ask, claimOne, key, search, settleOne } from './cast';
import { message, search as messages } from './messages';

/** What tests of a workflow leave behind is for tests, and production is for production. */
export const tests: readonly Law[] = [
	{
		name: 'a recovery in all scopes leaves tests to tests',
		hazard: 'H57 of the recovery',
		async run(world) {
			const store = await world.open();
			const [production, test] = scopes(world);
			for (const scope of [production, test]) {
				const wanted = ask(key(scope, 'e'));
				const { fence } = await claimOne(store, wanted);
				await settleOne(store, wanted, fence, { state: 'failed', error: '', retryAfterMs: 0, maxAttempts: null });
			}
			// Other laws have left much behind, in scopes of their own.
			const recovered = async (more: object): Promise<string[]> => {
				const found = (await store.recover(search({ limit: 1000, ...more }))).map(({ key: { scope } }) => scope);
				return found.length === 0 ? [] : [...found, ...(await recovered(more))];
			};
			const inProduction = await recovered({});
			assert.ok(inProduction.includes(production) && !inProduction.includes(test));
			const inTests = await recovered({ tests: true });
			assert.ok(inTests.includes(test) && inTests.every((scope) => scope.startsWith('test:')));
		},
	},
	{
		name: 'messages of tests are handed out to tests, or to whoever names their scope',
		hazard: 'H57 of the outbox',
		async run(world) {
			const store = await world.open();
			const [production, test] = scopes(world);
			await store.addMessages([message(production, 'a'), message(test, 'b'), message(test, 'c')]);
			assert.deepEqual(await keysOf(store, { limit: 1, scope: test }), ['b']);
			const topics = { topic: 'mail', limit: 1000 };
			const inProduction = await keysOf(store, topics);
			assert.ok(inProduction.includes('a') && !inProduction.includes('c'));
			assert.deepEqual(await keysOf(store, { ...topics, tests: true }), ['c']);
		},
	},
];

function scopes(world: World): [production: string, test: string] {
	const scope = world.newScope();
	return [scope, `test:${scope}`];
}

async function keysOf(store: Store, more: object): Promise<string[]> {
	const found = await store.nextMessages({ ...messages(''), scope: null, ...more });
	return found.map(({ messageKey }) => messageKey);
}
