import type { Parameters } from './parameters';

/** How long an owner may be silent, ms. */
export function readLeaseMs(parameters: Parameters, name: string): number {
	return Math.round(parameters.number(name, 'Lease (Minutes)', [1, YEAR_IN_MINUTES], 15) * MINUTE);
}

const MINUTE = 60_000;
const YEAR_IN_MINUTES = 525_600;
