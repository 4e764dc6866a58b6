import type { Backoff } from '../../../src/index';
import { endMessages } from '../outbox/endMessages';
import { readReason, readRetryAfter } from './settling';

/** The message could not be sent, and is handed out again after a wait that grows with every attempt. */
export const markFailed = endMessages((parameters) => ({
	state: 'failed',
	error: readReason(parameters),
	retryAfterMs: readRetryAfter(parameters, GROWING),
	maxAttempts: Math.trunc(parameters.number('options.maxAttempts', 'Maximum Attempts', [1, 1000], 10)),
}));

const SECOND = 1000;
const GROWING: Backoff = { baseMs: 30 * SECOND, capMs: 3600 * SECOND };
