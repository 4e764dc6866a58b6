import { readLeaseMs } from '../lease';
import type { Parameters } from '../parameters';
import { readLimit } from '../recovery';
import type { Test } from '../run';
import { readSearchedScope, type SearchedScope } from '../searchedScope';

/** Which messages are looked for, as the user says it. */
export interface MessageRules extends SearchedScope {
	readonly topic: string | null;
	readonly limit: number;
	readonly leaseMs: number;
}

export function readMessageRules(parameters: Parameters, test: Test): MessageRules {
	const topic = parameters.text('topic', 'Topic');
	return {
		topic: topic === '' ? null : topic,
		limit: readLimit(parameters),
		leaseMs: readLeaseMs(parameters, 'options.leaseMinutes'),
		...readSearchedScope(parameters, test),
	};
}
