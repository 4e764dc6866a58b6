import { encodeReceipt, type Receipt, type Store } from '../../../src/index';
import { asProblem } from '../problems';
import type { Run } from '../run';
import { type Answer, failed } from './answers';
import { keyDetails } from './details';
import { eventProblems } from './eventProblems';
import type { Lineages } from './lineage';
import type { Target } from './selection';

/** The claims that an item names, with what their owner would show; and what is to be said where there are none. */
export interface Owned {
	readonly claims: readonly Receipt[];
	readonly answers: readonly Answer[];
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
	return { claims: owners.map(({ key, owner, fence }) => ({ key, owner, fence })), answers: [] };
}

function none(answer: Answer): Owned {
	return { claims: [], answers: [answer] };
}

/**
 * Without what is production's, where this is a test: pinned items, an execution's number or an event's bring such claims
 * along, and nobody has done their work. What the test has taken from production itself it may end.
 */
export function sparedByTest({ claims, answers }: Owned, itemIndex: number, run: Run, lineages: Lineages): Owned {
	if (run.test === 'none') return { claims, answers };
	const isOurs = (claim: Receipt) => claim.key.scope.startsWith('test:') || lineages.gateOf(encodeReceipt(claim))?.productionInTests === true;
	const spared = claims.filter((claim) => !isOurs(claim)).map(({ key }): Answer => {
		return { ...notClaimed(itemIndex, SPARED, { type: 'unclaimed', letThrough: true, key }), hints: [`${SPARED}. ${SPARED_ADVICE}`] };
	});
	return { claims: claims.filter(isOurs), answers: [...answers, ...spared] };
}

const SPARED = 'The event is one of production and this is a test, so nothing was changed';
const SPARED_ADVICE = "A test has a memory of its own. To change the event use 'Reopen' or 'Resolve', or let a production execution do it";

/** No problem: the item went on without a claim on purpose, in a test or in Observe mode, or it is a duplicate. */
export function notClaimed(itemIndex: number, message: string, target?: Extract<Target, { type: 'unclaimed' }>): Answer {
	const key = target?.key ? keyDetails(target.key) : {};
	const output = target && !target.letThrough ? 'last' : 0;
	return { itemIndex, details: { ...key, outcome: 'not_claimed', message }, problem: null, output };
}
