import type { StoreError } from '../../errors';
import type { SqlClients } from '../clients';
import { OneOfMany } from '../gather';
import { type Query, withConnection } from './connection';

/** Calls that share nothing: each has a connection and a deadline of its own. */
export class LoneCalls {
	private readonly underWay = new Set<(reason: StoreError) => void>();
	private closed: StoreError | null = null;

	constructor(
		private readonly clients: SqlClients,
		private readonly patience: { readonly patienceMs: number; readonly outOfPatience: () => StoreError },
	) {}

	/**
	 * The work may be repeated, see `withConnection`; with `onceOnly` not where the connection was lost, since the first try
	 * may have been carried out.
	 */
	async run<Answer>(work: (query: Query) => Promise<Answer>, { onceOnly = false } = {}): Promise<Answer> {
		if (this.closed) throw this.closed;
		const abandoned = new AbortController();
		let giveUp: (reason: StoreError) => void = () => {};
		const givenUp = new Promise<never>((_, reject) => (giveUp = reject));
		const timer = setTimeout(() => giveUp(this.patience.outOfPatience()), this.patience.patienceMs);
		this.underWay.add(giveUp);
		try {
			const answers: Answer[] = [];
			const working = withConnection(
				this.clients,
				abandoned.signal,
				async (query) => {
					answers.push(await work(query));
				},
				{ onceOnly },
			);
			await Promise.race([working, givenUp]);
			return answers.at(-1) as Answer;
		} catch (error) {
			throw error instanceof OneOfMany ? error.error : error;
		} finally {
			clearTimeout(timer);
			this.underWay.delete(giveUp);
			// Closes the connection if the driver is still at it.
			abandoned.abort();
		}
	}

	close(reason: StoreError): void {
		this.closed ??= reason;
		for (const giveUp of [...this.underWay]) giveUp(reason);
	}
}
