import { StoreError } from '../../errors';
import type { SqlClients } from '../clients';
import { Gatherer } from '../gather';
import type {
	ClaimFilter,
	DeadLetter,
	DeadLetterSearch,
	Extension,
	ExtensionReply,
	Lifecycle,
	Recovered,
	RecoverySearch,
	Reopening,
	ReopeningReply,
	Resolution,
	ResolutionReply,
	Step,
	StepReply,
} from '../lifecycle';
import type { LeasedMessage, MessageEnd, MessageReply, MessageSearch, OutboxMessage, ShownMessage } from '../outbox';
import type { Payload } from '../payload';
import type { ClaimAsk, EventKey, Settle, SettleReply, Store, StoredClaim, StoreReply } from '../store';
import { LoneCalls } from './alone';
import { keysOf, type WireAsk, wireAsk } from './asks';
import { claimBatch } from './claim';
import { untilAnswered } from './connection';
import { readDeadLetters } from './deadLetters';
import { keyName } from './keys';
import { PostgresLifecycle } from './lifecycle';
import { prepare } from './migrate';
import { PostgresOutbox } from './outbox';
import { findByExecution, findClaim, findPayload, listClaims, showMessages } from './reading';
import { recoverDue } from './recovery';
import { sameBatch } from './replies';
import { Tables, type TableOptions } from './tables';

export interface PostgresStoreOptions extends TableOptions {
	/** Connections used for claims at the same time; what becomes of them uses two more, and each look-up another. Default 2. */
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
	private readonly lifecycle: PostgresLifecycle;
	private readonly calls: LoneCalls;
	private readonly outbox: PostgresOutbox;
	private closing: Promise<void> | null = null;

	constructor(
		private readonly clients: SqlClients,
		{ lanes = 2, patienceMs = 10_000, lockTimeoutMs = 2_000, ...place }: PostgresStoreOptions = {},
	) {
		this.tables = new Tables(place);
		const patience = { patienceMs, outOfPatience: () => tooLate(patienceMs) };
		// In company a stuck key costs the others time, so there it gets less; alone it gets all.
		const lockTimeout = (size: number) => String(Math.ceil(size > 1 ? lockTimeoutMs / 4 : lockTimeoutMs));

		this.outbox = new PostgresOutbox(clients, this.tables, { ...patience, lockTimeout: lockTimeout(1) });
		this.lifecycle = new PostgresLifecycle(clients, this.tables, lockTimeout, patience);
		this.calls = new LoneCalls(clients, patience);
		this.claims = new Gatherer({
			...patience,
			maxBatch: 256,
			lanes,
			keysOf,
			send: untilAnswered(clients, async (query, open, answer) => {
				const part = atOnce([...open], ([, ask]) => ask);
				await claimBatch(query, this.tables, part.map(([, ask]) => ask), lockTimeout(open.size), (at, reply) => {
					const [index] = part[at] as [number, WireAsk];
					answer(index, reply);
				});
			}),
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
		return await this.lifecycle.settle(ends);
	}

	async extend(leases: readonly Extension[]): Promise<ExtensionReply[]> {
		return await this.lifecycle.extend(leases);
	}

	async advance(steps: readonly Step[]): Promise<StepReply[]> {
		return await this.lifecycle.advance(steps);
	}

	async reopen(orders: readonly Reopening[]): Promise<ReopeningReply[]> {
		return await this.lifecycle.reopen(orders);
	}

	async resolve(orders: readonly Resolution[]): Promise<ResolutionReply[]> {
		return await this.lifecycle.resolve(orders);
	}

	async recover(search: RecoverySearch): Promise<Recovered[]> {
		return await recoverDue(this.calls, this.tables, search);
	}

	async find(key: EventKey): Promise<StoredClaim | null> {
		return await findClaim(this.calls, this.tables, key);
	}

	async findByExecution(search: Parameters<Lifecycle['findByExecution']>[0]): Promise<StoredClaim[]> {
		return await findByExecution(this.calls, this.tables, search);
	}

	async list(filter: ClaimFilter): Promise<StoredClaim[]> {
		return await listClaims(this.calls, this.tables, filter);
	}

	async deadLetters(search: DeadLetterSearch): Promise<DeadLetter[]> {
		return await readDeadLetters(this.calls, this.tables, search);
	}

	async findPayload(key: EventKey): Promise<Payload | null> {
		return await findPayload(this.calls, this.tables, key);
	}

	async addMessages(messages: readonly OutboxMessage[]): Promise<Array<'added' | 'already_added'>> {
		return await this.outbox.addMessages(messages);
	}

	async nextMessages(search: MessageSearch): Promise<LeasedMessage[]> {
		return await this.outbox.nextMessages(search);
	}

	async showMessages(search: Omit<MessageSearch, 'owner' | 'leaseMs'>): Promise<ShownMessage[]> {
		return await showMessages(this.calls, this.tables, search);
	}

	async settleMessages(ends: readonly MessageEnd[]): Promise<MessageReply[]> {
		return await this.outbox.settleMessages(ends);
	}

	async close(): Promise<void> {
		for (const part of [this.claims, this.lifecycle, this.outbox, this.calls]) part.close(closed());
		await (this.closing ??= this.clients.close());
	}

	private refuseWhenClosed(): void {
		if (this.closing) throw closed();
	}
}

/** Guards are looked up per ask, and a statement's time grows with the square of their number. */
const GUARDED_AT_ONCE = 500;
/** What a statement may hold of saved deliveries, in characters: it is one text here and there. At least one always goes. */
const SAVED_AT_ONCE = 16 * 1024 * 1024;

/** As many from the beginning as one statement should take: all, but for guards and large deliveries. */
function atOnce<Item>(items: readonly Item[], askOf: (item: Item) => WireAsk): Item[] {
	let guarded = 0;
	let saved = 0;
	const end = items.findIndex((item, at) => {
		const { guards, payload } = askOf(item);
		guarded ||= guards.length;
		saved += payload ? payload.body.length + payload.headers.length : 0;
		return (guarded > 0 && at >= GUARDED_AT_ONCE) || (saved > SAVED_AT_ONCE && at > 0);
	});
	return end === -1 ? [...items] : items.slice(0, end);
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
