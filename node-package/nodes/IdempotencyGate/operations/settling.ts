import type { Backoff } from '../../../src/index';
import { eventProblems } from '../events/eventProblems';
import type { Parameters } from '../parameters';
import { storedReason } from '../reason';

/** The lease was over, and by luck nobody had taken the event over. */
export function lateHint(end: string): string {
	return `The lease of the event was over before it was ${end}. Another delivery could have taken it over: raise 'Lease (Minutes)' of the gate or add 'Extend Lease'`;
}

/** A reason that may be missing: what fails does not always say why. */
export function readReason(parameters: Parameters): string {
	return storedReason(parameters.note('reason', 'Reason')) || 'No reason was given';
}

/** The reason of a person, who can give one. */
export function readRequiredReason(parameters: Parameters): string {
	const reason = storedReason(parameters.text('reason', 'Reason'));
	if (reason === '') throw eventProblems.reasonMissing();
	return reason;
}

/** Until the next attempt, ms; `otherwise` where the user set no time. */
export function readRetryAfter(parameters: Parameters, otherwise: number | Backoff = GROWING): number | Backoff {
	const minutes = parameters.number('options.retryAfterMinutes', 'Retry After (Minutes)', [0, YEAR_IN_MINUTES], undefined);
	return minutes === undefined ? otherwise : Math.round(minutes * MINUTE);
}

const MINUTE = 60_000;
const YEAR_IN_MINUTES = 525_600;

const GROWING: Backoff = { baseMs: MINUTE, capMs: 60 * MINUTE };
