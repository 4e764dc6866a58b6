import { StoreError } from '../../errors';
import type { SqlClient, SqlClients } from '../clients';
import { type GatherOptions, OneOfMany } from '../gather';
import { type Problem, problemOf } from './problems';

/** Runs one statement as a transaction of its own and gives its rows. */
export type Query = (text: string, values: readonly unknown[]) => Promise<ReadonlyArray<Record<string, unknown>>>;

/**
 * Lends a connection for a piece of work that may be repeated, and repeats it where that helps: up to `CONFLICTS` times
 * where other transactions got in the way, once on another connection where this one was lost. What was carried out and
 * not answered is carried out again, so the work must be re-entrant; it should leave out what was answered.
 *
 * When `abandoned` fires, the connection is closed and not given back: its answer is still to come, and nobody waits.
 * `onceOnly`: not repeated where the connection was lost.
 */
export async function withConnection(
	clients: SqlClients,
	abandoned: AbortSignal,
	work: (query: Query) => Promise<void>,
	{ onceOnly = false } = {},
): Promise<void> {
	for (let lost = 0; ; lost++) {
		const problem = await once(clients, abandoned, work);
		if (problem === null) return;
		if (problem.kind === 'lost' && lost === 0 && !onceOnly && !abandoned.aborted) continue;
		throw problem.kind === 'one_of_many' ? new OneOfMany(problem.error) : problem.error;
	}
}

/**
 * The `send` of a `Gatherer`: sends some of what is open, again and again, until all is answered. When the work is
 * repeated, only what is not answered yet is sent again.
 */
export function untilAnswered<Ask, Reply>(
	clients: SqlClients,
	sendSome: (query: Query, open: ReadonlyMap<number, Ask>, answer: (index: number, reply: Reply) => void) => Promise<void>,
	retry: { readonly onceOnly?: boolean } = {},
): GatherOptions<Ask, Reply>['send'] {
	return async (asks, answer, abandoned) => {
		const open = new Map(asks.map((ask, index) => [index, ask]));
		const work = async (query: Query): Promise<void> => {
			while (open.size > 0) {
				await sendSome(query, open, (index, reply) => {
					open.delete(index);
					answer(index, reply);
				});
			}
		};
		await withConnection(clients, abandoned, work, retry);
	};
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
		const query = onlyWhileWaitedFor(connection.client, abandoned);
		for (let conflicts = 0; ; conflicts++) {
			const problem = await work(query).then(() => null, problemOf);
			if (problem?.kind === 'conflict' && conflicts < CONFLICTS) continue;
			// After an error of the server the connection is as good as before.
			release(problem?.kind === 'lost');
			return problem;
		}
	} finally {
		abandoned.removeEventListener('abort', close);
	}
}

function onlyWhileWaitedFor(client: SqlClient, abandoned: AbortSignal): Query {
	return async (text, values) => {
		if (abandoned.aborted) throw nobodyWaits();
		return (await client.query(text, values)).rows;
	};
}

function nobodyWaits(): StoreError {
	return new StoreError('store_busy', 'The claim was given up', 'Nobody waits for its answer any more.');
}
