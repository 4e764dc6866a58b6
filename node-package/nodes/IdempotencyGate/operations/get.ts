import { recordDetails } from '../events/details';
import { recordOperation } from '../events/recordOperation';

/** Reads the state of each item's event. */
export const get = recordOperation<null>({
	read: () => null,

	async carryOut(store, orders) {
		const records = await Promise.all(orders.map(async ({ key }) => await store.find(key)));
		return records.map((record) => {
			if (record === null) return { details: { outcome: 'not_found', message: 'There is no such event in the store', status: null } };
			return { details: { ...recordDetails(record), outcome: 'found', message: `The event is ${record.state}` } };
		});
	},
});
