import { StoreError } from '../../errors';
import type { SqlClient, SqlClients } from '../clients';
import { OneOfMany } from '../gather';
import { type Problem, problemOf } from './problems';

/** Runs one statement as a transaction of its own and gives its rows. */
export type Query = (text: string, values: readonly unknown[]) => Promise<ReadonlyArray<Record<string, unknown>>>;

/**
 * Lends a connection for a piece of work that may be repeated, and repeats it where that helps: a statement that other
 * transactions got in the way of, up to `CONFLICTS` times; the whole work once where the connection was lost, since a
 * statement whose answer is lost may have been carried out. The work must therefore be re-entrant.
 *
 * When `abandoned` fires, the connection is closed and not given back: its answer is still to come, and nobody waits.
 */
export async function withConnection(
	clients: SqlClients,
	abandoned: AbortSignal,
	work: (query: Query) => Promise<void>,
): Promise<void> {
	for (let lost = 0; ; lost++) {
		const problem = await once(clients, abandoned, work);
		if (problem === null) return;
		if (problem.kind === 'lost' && lost === 0 && !abandoned.aborted) continue;
		throw problem.kind === 'one_of_many' ? new OneOfMany(problem.error) : problem.error;
	}
}

/** A batch can lose more than one race, but each loss is somebody else's commit. */
const CONFLICTS = 20;

async function once(
	clients: SqlClients,
	abandoned: AbortSignal,
	work: (query: Query) => Promise<void>,
): Promise<Problem | null> {
	let connection: Awaited<ReturnType<SqlClients['acquire']>>;
	try {
		connection = await clients.acquire();
	} catch (cause) {
		return problemOf(cause);
	}
	let held = true;
	const release = (broken: boolean): void => {
		if (held) connection.release(broken);
		held = false;
	};
	const close = (): void => release(true);
	if (abandoned.aborted) {
		release(false);
		return { kind: 'final', error: nobodyWaits() };
	}
	abandoned.addEventListener('abort', close);
	try {
		await work(patient(connection.client, abandoned));
		release(false);
		return null;
	} catch (cause) {
		const problem = cause instanceof Failed ? cause.problem : problemOf(cause);
		// After an error of the server the connection is as good as before; all other connections are given up.
		release(problem.kind === 'lost');
		return problem;
	} finally {
		abandoned.removeEventListener('abort', close);
	}
}

function patient(client: SqlClient, abandoned: AbortSignal): Query {
	return async (text, values) => {
		for (let conflicts = 0; ; conflicts++) {
			if (abandoned.aborted) throw new Failed({ kind: 'final', error: nobodyWaits() });
			try {
				return (await client.query(text, values)).rows;
			} catch (cause) {
				const problem = problemOf(cause);
				if (problem.kind !== 'conflict' || conflicts === CONFLICTS) throw new Failed(problem);
			}
		}
	};
}

/** Carries a problem past the work that does not care. */
class Failed extends Error {
	constructor(readonly problem: Problem) {
		super(problem.error.message);
	}
}

function nobodyWaits(): StoreError {
	return new StoreError('store_busy', 'The claim was given up', 'Nobody waits for its answer any more.');
}
