import type { INodeExecutionData } from 'n8n-workflow';
import type { DeadLetter, Payload, StoredClaim } from '../../src/index';
import { recordDetails } from '../IdempotencyGate/events/details';
import { requestOf } from '../IdempotencyGate/handedOutItem';
import type { Parameters } from '../IdempotencyGate/parameters';
import { readLimit, readProvider } from '../IdempotencyGate/recovery';
import { readSearchedScope } from '../IdempotencyGate/searchedScope';
import { moveOn, readPosition } from './letterPosition';
import type { Source } from './source';

/**
 * Events that became uncertain or dead, each reported once to each workflow that asks. n8n keeps the position together
 * with the beginning of the execution: if it dies in between, the letters come once more, and none is lost.
 */
export const deadLetters: Source = {
	nothing: 'There are no dead letters to show',

	async take(store, parameters, context) {
		const wanted = wantedBy(parameters);
		const limit = readLimit(parameters);
		const memory = context.getWorkflowStaticData('node');
		let position = readPosition(memory['letters']);
		let found: INodeExecutionData[] = [];
		let letters: DeadLetter[];
		do {
			const missing = position.missing.map(([id]) => id);
			letters = await store.deadLetters({ after: position.after, missing, limit });
			position = moveOn(position, letters.map(({ id }) => id), Date.now());
			found = letters.flatMap(({ claim, payload }) => (claim && wanted(claim) ? [letterItem(claim, payload)] : []));
			// None of these was wanted, and there may be more.
		} while (found.length === 0 && letters.length === limit);
		memory['letters'] = position;
		return found;
	},

	async show(store, parameters) {
		const { scope, provider } = { ...readSearchedScope(parameters, 'none'), provider: readProvider(parameters) };
		const states = ['uncertain', 'dead'] as const;
		const filter = { states, scope, provider, eventType: null, fromMs: null, toMs: null, limit: MOST_LOOKED_AT };
		const claim = (await store.list(filter)).find(wantedBy(parameters));
		return claim ? [letterItem(claim, await store.findPayload(claim.key))] : [];
	},
};

const MOST_LOOKED_AT = 1000;

function wantedBy(parameters: Parameters): (claim: StoredClaim) => boolean {
	const { scope } = readSearchedScope(parameters, 'none');
	const provider = readProvider(parameters);
	return ({ key }) => {
		const inScope = scope === null ? !key.scope.startsWith('test:') : key.scope === scope;
		return inScope && (provider === null || key.provider === provider);
	};
}

function letterItem(claim: StoredClaim, payload: Payload | null): INodeExecutionData {
	const details = {
		outcome: claim.state,
		message: claim.state === 'dead' ? 'The event is given up' : 'Nobody knows whether the event was handled',
		...recordDetails(claim),
		needsAttention: true,
		payloadSaved: payload !== null,
	};
	return { json: { ...(payload && requestOf(payload)), claimed: false, idempotency: details } };
}
