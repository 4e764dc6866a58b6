/**
 * The store did not answer, or answered with something that is not a verdict. Nothing is known about the claim: it may
 * or may not have been made. Ask again with the same owner token.
 */
export class StoreError extends Error {
	override readonly name = 'StoreError';

	constructor(
		/**
		 * - `store_unavailable`: no connection, a lost connection, a server that refuses or is shutting down.
		 * - `store_busy`: reached, but a deadline passed (lock, statement, waiting for a connection).
		 * - `store_misconfigured`: reached, but it cannot serve: no permission, a foreign table, a standby.
		 * - `store_refused_key`: this one ask cannot be stored (too long, NUL); others are not affected.
		 */
		readonly code: 'store_unavailable' | 'store_busy' | 'store_misconfigured' | 'store_refused_key',
		message: string,
		/** What to do about it, for a person. */
		readonly help: string,
		options?: { cause?: unknown },
	) {
		super(message, options);
	}
}

/** The core was given something it cannot work on, or broke: a bug or a misuse, never a verdict on a delivery. */
export class CoreError extends Error {
	override readonly name = 'CoreError';
}
