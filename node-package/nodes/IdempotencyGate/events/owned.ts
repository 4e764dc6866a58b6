import type { Receipt, Store } from '../../../src/index';
import { asProblem } from '../problems';
import { type Answer, failed } from './answers';
import { keyDetails } from './details';
import { eventProblems } from './eventProblems';
import type { Target } from './selection';

/** The claims that an item names, with what their owner would show; or the answer where there are none. */
export interface Owned {
	readonly claims: readonly Receipt[];
	readonly otherwise: Answer | null;
}

/** For those who do not have the token, the record says who the owner is: they act for him. */
export async function ownedBy(store: Store, itemIndex: number, target: Target): Promise<Owned> {
	try {
		switch (target.type) {
			case 'receipt':
				return held(target.receipt);
			case 'key': {
				const { scope, eventId } = target.key;
				const record = await store.find(target.key);
				return record ? held(record) : none(failed(itemIndex, eventProblems.eventNotFound(eventId, scope)));
			}
			case 'executions': {
				const searches = target.marks.map((executionId) => ({ executionId, unfinished: true, limit: MOST_CLAIMS }));
				const found = await Promise.all(searches.map(async (search) => await store.findByExecution(search)));
				const records = found.flat();
				if (records.length > 0) return held(...records);
				return none(notClaimed(itemIndex, 'The execution holds no event that is in progress'));
			}
			case 'unclaimed':
				return none(notClaimed(itemIndex, 'The event was not claimed here, so nothing was changed', target));
		}
	} catch (thrown) {
		return none(failed(itemIndex, asProblem(thrown)));
	}
}

/** Of one execution: far more than one takes in. */
const MOST_CLAIMS = 10_000;

function held(...owners: readonly Receipt[]): Owned {
	return { claims: owners.map(({ key, owner, fence }) => ({ key, owner, fence })), otherwise: null };
}

function none(otherwise: Answer): Owned {
	return { claims: [], otherwise };
}

/** No problem: the item went on without a claim on purpose, in a test or in Observe mode, or it is a duplicate. */
export function notClaimed(itemIndex: number, message: string, target?: Extract<Target, { type: 'unclaimed' }>): Answer {
	const key = target?.key ? keyDetails(target.key) : {};
	const output = target && !target.letThrough ? 'last' : 0;
	return { itemIndex, details: { ...key, outcome: 'not_claimed', message }, problem: null, output };
}
