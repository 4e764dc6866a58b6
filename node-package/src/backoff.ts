/** How long failed attempts wait for the next one. */
export interface Backoff {
	/** Upper end of the first wait, ms. Greater than 0. */
	readonly baseMs: number;
	/** Upper end of every wait, ms. At least `baseMs`. */
	readonly capMs: number;
}

/**
 * Wait after attempt number `attempt` (the first is 1), whole ms: anywhere between 0 and `baseMs` doubled with every
 * attempt, up to `capMs`. The whole range is used ("full jitter"), since events that failed together, when the
 * destination went down, must not come back together.
 *
 * @param random in [0, 1), for example from `Math.random()`
 */
export function backoffMs({ baseMs, capMs }: Backoff, attempt: number, random: number): number {
	if (!(baseMs > 0 && capMs >= baseMs && Number.isFinite(capMs))) throw new RangeError('A backoff needs 0 < base <= cap');
	if (!(Number.isInteger(attempt) && attempt >= 1)) throw new RangeError('Attempts are counted from 1');
	if (!(random >= 0 && random < 1)) throw new RangeError('A random number is at least 0 and below 1');
	const upTo = Math.min(capMs, baseMs * 2 ** (attempt - 1));
	return Math.floor(random * (Math.floor(upTo) + 1));
}
