import type { StoreError } from '../../errors';
import type { SqlClients } from '../clients';
import { Gatherer } from '../gather';
import type { LeasedMessage, MessageEnd, MessageReply, MessageSearch, Outbox, OutboxMessage } from '../outbox';
import { type Query, untilAnswered } from './connection';
import { firstOfEach } from './keys';
import {
	leased,
	messageEnded,
	messageName,
	type WireMessage,
	wireMessage,
	type WireMessageEnd,
	wireMessageEnd,
	type WireSearch,
	wireSearch,
} from './messages';
import { number, type Row, unforeseen } from './replies';
import type { Tables } from './tables';

export interface PostgresOutboxOptions {
	readonly patienceMs: number;
	readonly outOfPatience: () => StoreError;
	/** How long a statement waits for a rival, as text for the server. */
	readonly lockTimeout: string;
}

type Added = 'added' | 'already_added';

/** The messages that leave with the events, but for looking at them (`reading.ts`). Callers at the same time share statements, as with claims. */
export class PostgresOutbox implements Omit<Outbox, 'showMessages'> {
	private readonly additions: Gatherer<WireMessage, Added>;
	private readonly searches: Gatherer<WireSearch, LeasedMessage[]>;
	private readonly ends: Gatherer<WireMessageEnd, MessageReply>;

	constructor(
		private readonly clients: SqlClients,
		private readonly tables: Tables,
		{ lockTimeout, ...shared }: PostgresOutboxOptions,
	) {
		this.additions = this.gatherer(shared, 256, (message) => messageName(message), async (query, open, answer) => {
			const firsts = firstOfEach(open, messageName);
			const messages = firsts.map(([ord, message]) => ({ ord, ...message }));
			const rows = await query(this.tables.sql('outbox_add'), [JSON.stringify(messages), messages.length, lockTimeout]);
			oneEach(firsts, rows);
			for (const row of rows) answer(number(row['ord']), row['added'] === true ? 'added' : 'already_added');
		});
		this.searches = this.gatherer(shared, 1, ({ owner }) => owner, async (query, open, answer) => {
			for (const [ord, { scope, tests, topic, limit, owner, lease_ms }] of open) {
				const values = [scope, topic, limit, owner, lease_ms, lockTimeout, tests];
				answer(ord, (await query(this.tables.sql('outbox_next'), values)).map(leased));
			}
		});
		this.ends = this.gatherer(shared, 256, ({ id }) => id, async (query, open, answer) => {
			const firsts = firstOfEach(open, ({ id }) => id);
			const ends = firsts.map(([ord, end]) => ({ ord, ...end }));
			const rows = await query(this.tables.sql('outbox_settle'), [JSON.stringify(ends), ends.length, lockTimeout]);
			oneEach(firsts, rows);
			for (const row of rows) answer(number(row['ord']), messageEnded(row));
		});
	}

	async addMessages(messages: readonly OutboxMessage[]): Promise<Added[]> {
		return await this.additions.submit(messages.map(wireMessage));
	}

	async nextMessages(search: MessageSearch): Promise<LeasedMessage[]> {
		const [messages] = await this.searches.submit([wireSearch(search)]);
		return messages as LeasedMessage[];
	}

	async settleMessages(ends: readonly MessageEnd[]): Promise<MessageReply[]> {
		return await this.ends.submit(ends.map(wireMessageEnd));
	}

	close(reason: StoreError): void {
		for (const gatherer of [this.additions, this.searches, this.ends]) gatherer.close(reason);
	}

	private gatherer<Ask, Reply>(
		shared: Omit<PostgresOutboxOptions, 'lockTimeout'>,
		maxBatch: number,
		nameOf: (ask: Ask) => string,
		send: (query: Query, open: ReadonlyMap<number, Ask>, answer: (index: number, reply: Reply) => void) => Promise<void>,
	): Gatherer<Ask, Reply> {
		return new Gatherer({
			...shared,
			lanes: 1,
			maxBatch,
			keysOf: (ask) => [nameOf(ask)],
			send: untilAnswered(this.clients, send),
		});
	}
}

function oneEach(asked: readonly unknown[], rows: readonly Row[]): void {
	if (rows.length !== asked.length) throw unforeseen('The Postgres store gave fewer answers than it was asked');
}
