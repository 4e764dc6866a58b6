import type { INodeExecutionData } from 'n8n-workflow';
import { type DeadLetter, loadCore, type Payload, type StoredClaim } from '../../src/index';
import { recordDetails } from '../IdempotencyGate/events/details';
import { requestOf } from '../IdempotencyGate/handedOutItem';
import type { Parameters } from '../IdempotencyGate/parameters';
import { readLimit, readProvider } from '../IdempotencyGate/recovery';
import { readSearchedScope } from '../IdempotencyGate/searchedScope';
import { afterRestart, moveOn, readPosition, tell } from './letterPosition';
import type { Source } from './source';

/**
 * Events that became uncertain or dead, each reported to each workflow that asks: once, but for a restart of n8n, which
 * may have died while it was telling somebody. Then the last ones come once more.
 */
export const deadLetters: Source = {
	nothing: 'There are no dead letters to show',

	async take(store, parameters, context) {
		const wanted = wantedBy(parameters);
		const limit = readLimit(parameters);
		const memory = context.getWorkflowStaticData('node');
		const nowMs = Date.now();
		let position = readPosition(memory['letters']);
		if (memory['process'] !== processMark()) position = afterRestart(position, nowMs);
		let letters: DeadLetter[];
		let found: DeadLetter[];
		do {
			const missing = position.missing.map(([id]) => id);
			letters = await store.deadLetters({ after: position.after, missing, limit });
			position = moveOn(position, letters.map(({ id }) => id), nowMs);
			found = letters.filter(({ claim }) => claim !== null && wanted(claim));
			// None of these was wanted, and there may be more: an answer is short also where what was saved is large.
		} while (found.length === 0 && letters.length > 0);
		memory['letters'] = tell(position, found.map(({ id }) => id), nowMs);
		memory['process'] = processMark();
		return found.flatMap(({ claim, payload }) => (claim ? [letterItem(claim, payload)] : []));
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

function processMark(): string {
	return (mark ??= loadCore().newToken());
}

let mark: string | undefined;

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
