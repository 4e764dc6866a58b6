import { StoreError } from '../../errors';
import type { SqlClients } from '../clients';
import { Gatherer } from '../gather';
import type { LeasedMessage, MessageEnd, MessageReply, MessageSearch, OutboxMessage } from '../outbox';
import type { ClaimAsk, EventKey, Settle, SettleReply, Store, StoredClaim, StoreReply } from '../store';
import { keyName, keysOf, type WireAsk, wireAsk, type WireEnd, wireEnd, wireKey } from './asks';
import { claimBatch } from './claim';
import { withConnection } from './connection';
import { prepare } from './migrate';
import { PostgresOutbox } from './outbox';
import { sameBatch, stored } from './replies';
import { settleBatch } from './settle';
import { Tables, type TableOptions } from './tables';

export interface PostgresStoreOptions extends TableOptions {
	/** Connections used for claims at the same time; settling uses one more. Default 2. */
	readonly lanes?: number;
	/** After this time a call ends as `store_busy`, whatever the server does. Default 10 s. */
	readonly patienceMs?: number;
	/** How long a statement waits for a rival that does not commit. Default 2 s. */
	readonly lockTimeoutMs?: number;
}

/**
 * Claims in PostgreSQL. Knows no driver: connections come in through `SqlClients`.
 *
 * Statements are unnamed and leave nothing behind on a connection, so any pooler can be in between: the lock timeout is
 * set inside each statement, until its end. There is no statement timeout of ours (that would need a transaction around
 * each statement): `lockTimeoutMs` bounds the waits on the server, `patienceMs` everything else.
 */
export class PostgresStore implements Store {
	private readonly tables: Tables;
	private readonly claims: Gatherer<WireAsk, StoreReply>;
	private readonly ends: Gatherer<WireEnd, SettleReply>;
	private readonly outbox: PostgresOutbox;
	private closing: Promise<void> | null = null;

	constructor(
		private readonly clients: SqlClients,
		{ lanes = 2, patienceMs = 10_000, lockTimeoutMs = 2_000, ...place }: PostgresStoreOptions = {},
	) {
		this.tables = new Tables(place);
		const shared = { maxBatch: 256, patienceMs, outOfPatience: () => tooLate(patienceMs) };
		// In company a stuck key costs the others time, so there it gets less; alone it gets all.
		const lockTimeout = (size: number) => String(Math.ceil(size > 1 ? lockTimeoutMs / 4 : lockTimeoutMs));

		this.outbox = new PostgresOutbox(clients, this.tables, { ...shared, lockTimeout: lockTimeout(1) });
		this.claims = new Gatherer({
			...shared,
			lanes,
			keysOf,
			send: async (asks, answer, abandoned) => {
				const open = new Map(asks.map((ask, index) => [index, ask]));
				await withConnection(this.clients, abandoned, async (query) => {
					// When this runs again, only what is not answered yet is asked again.
					while (open.size > 0) {
						const part = [...open].slice(0, mostAtOnce(open.values()));
						await claimBatch(query, this.tables, part.map(([, ask]) => ask), lockTimeout(open.size), (at, reply) => {
							const [index] = part[at] as [number, WireAsk];
							open.delete(index);
							answer(index, reply);
						});
					}
				});
			},
		});
		this.ends = new Gatherer({
			...shared,
			lanes: 1,
			keysOf: (end) => [keyName(end)],
			send: async (ends, answer, abandoned) => {
				const open = new Map(ends.map((end, index) => [index, end]));
				await withConnection(this.clients, abandoned, async (query) => {
					while (open.size > 0) {
						await settleBatch(query, this.tables, open, lockTimeout(open.size), (index, reply) => {
							open.delete(index);
							answer(index, reply);
						});
					}
				});
			},
		});
	}

	async prepare(): Promise<void> {
		this.refuseWhenClosed();
		await prepare(this.clients, this.tables);
	}

	async claim(asks: readonly ClaimAsk[]): Promise<StoreReply[]> {
		const wire = asks.map(wireAsk);
		const firsts = new Map<string, { readonly ask: WireAsk; readonly at: number }>();
		for (const ask of wire) {
			const name = nameInCall(ask);
			if (!firsts.has(name)) firsts.set(name, { ask, at: firsts.size });
		}
		const replies = await this.claims.submit([...firsts.values()].map(({ ask }) => ask));
		return wire.map((ask) => {
			const first = firsts.get(nameInCall(ask)) as { readonly ask: WireAsk; readonly at: number };
			const reply = replies[first.at] as StoreReply;
			return ask === first.ask ? reply : sameBatch(reply, first.ask, ask);
		});
	}

	async settle(ends: readonly Settle[]): Promise<SettleReply[]> {
		return await this.ends.submit(ends.map(wireEnd));
	}

	async find(key: EventKey): Promise<StoredClaim | null> {
		this.refuseWhenClosed();
		const { scope, provider, event_id } = wireKey(key);
		let found: StoredClaim | null = null;
		await withConnection(this.clients, new AbortController().signal, async (query) => {
			const [row] = await query(this.tables.sql('find'), [scope, provider, event_id]);
			found = row ? stored(key, row) : null;
		});
		return found;
	}

	async addMessages(messages: readonly OutboxMessage[]): Promise<Array<'added' | 'already_added'>> {
		return await this.outbox.addMessages(messages);
	}

	async nextMessages(search: MessageSearch): Promise<LeasedMessage[]> {
		return await this.outbox.nextMessages(search);
	}

	async settleMessages(ends: readonly MessageEnd[]): Promise<MessageReply[]> {
		return await this.outbox.settleMessages(ends);
	}

	async close(): Promise<void> {
		this.claims.close(closed());
		this.ends.close(closed());
		this.outbox.close(closed());
		await (this.closing ??= this.clients.close());
	}

	private refuseWhenClosed(): void {
		if (this.closing) throw closed();
	}
}

/** Guards are looked up per ask, and a statement's time grows with the square of their number. */
const GUARDED_AT_ONCE = 500;

function mostAtOnce(asks: Iterable<WireAsk>): number {
	for (const { guards } of asks) if (guards.length > 0) return GUARDED_AT_ONCE;
	return Number.POSITIVE_INFINITY;
}

/** What is one and the same ask within a call. Where another body is refused, each body needs an answer of its own. */
function nameInCall(ask: WireAsk): string {
	return ask.reject_changed ? `${keyName(ask)} ${ask.body_digest}` : keyName(ask);
}

function tooLate(patienceMs: number): StoreError {
	const help = 'Nothing is known about the claim. The event can be delivered again safely.';
	return new StoreError('store_busy', `The Postgres store did not answer within ${patienceMs / 1000} s`, help);
}

function closed(): StoreError {
	const help = 'Nothing is known about claims that were under way. They can be asked again with the same owner token.';
	return new StoreError('store_unavailable', 'The Postgres store was closed', help);
}
