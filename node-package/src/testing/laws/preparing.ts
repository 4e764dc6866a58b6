import assert from 'node:assert';
import type { Law } from '../world';
import { ask, behindBarrier, count, key } from './cast';

/** Getting ready, by many at once. */
export const preparing: readonly Law[] = [
	{
		name: '20 clients prepare one fresh place at once, and again, and then all claim there',
		hazard: 'H1 of the set-up',
		needs: ['fresh_places'],
		async run(world) {
			for (let round = 0; round < 3; round++) {
				const place = await world.freshPlace?.();
				assert.ok(place);
				const stores = await Promise.all(Array.from({ length: 20 }, async () => await place.open()));
				await behindBarrier(stores.map((store) => async () => await store.prepare()));
				await behindBarrier(stores.map((store) => async () => await store.prepare()));
				const at = key(world.newScope(), 'evt_1');
				const replies = await behindBarrier(stores.map((store) => async () => (await store.claim([ask(at)]))[0]));
				assert.deepEqual(count(replies.flatMap((reply) => reply ?? [])), { claimed: 1, in_progress: 19 });
			}
		},
	},
	{
		name: 'preparing what is prepared changes nothing',
		hazard: 'second migration',
		async run(world) {
			const at = key(world.newScope(), 'evt_1');
			const store = await world.open();
			await store.claim([ask(at)]);
			const before = await store.find(at);
			await store.prepare();
			assert.deepEqual(await store.find(at), before);
		},
	},
];
