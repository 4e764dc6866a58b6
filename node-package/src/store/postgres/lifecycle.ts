import type { StoreError } from '../../errors';
import type { SqlClients } from '../clients';
import { Gatherer } from '../gather';
import type {
	Extension,
	ExtensionReply,
	Reopening,
	ReopeningReply,
	Resolution,
	ResolutionReply,
	Step,
	StepReply,
} from '../lifecycle';
import type { Settle, SettleReply } from '../store';
import { advancing, type Change, ending, extending, reopening, resolving } from './changes';
import { type Query, untilAnswered } from './connection';
import { firstOfEach, inKeyOrder, keyName } from './keys';
import { advanced, extended, number, reopened, resolved, type Row, settled, unforeseen } from './replies';
import type { Tables } from './tables';

/**
 * Everything that changes one claim between its making and its end, and the end itself. Callers at the same time share
 * statements, and all of them one connection, since a claim is changed once or twice in its life. Only steps have another:
 * the others may be repeated on a new connection, steps may not.
 */
export class PostgresLifecycle {
	private readonly changes: Gatherer<Change, Row>;
	private readonly steps: Gatherer<Change, Row>;
	/** Where completed claims were found to have something with them: the next ones are sent to settle_full.sql at once. */
	private readonly ladenScopes = new Set<string>();

	constructor(
		clients: SqlClients,
		private readonly tables: Tables,
		lockTimeout: (size: number) => string,
		patience: { readonly patienceMs: number; readonly outOfPatience: () => StoreError },
	) {
		const gatherer = (retry: { readonly onceOnly: boolean }): Gatherer<Change, Row> =>
			new Gatherer({
				...patience,
				maxBatch: 256,
				lanes: 1,
				keysOf: ({ wire }) => [keyName(wire)],
				send: untilAnswered(
					clients,
					async (query, open, answer) => await this.changeFirsts(query, open, lockTimeout(open.size), answer),
					retry,
				),
			});
		this.changes = gatherer({ onceOnly: false });
		// Carried out twice, a step is `already_there` by its own doing, and the caller would pass over it.
		this.steps = gatherer({ onceOnly: true });
	}

	async settle(ends: readonly Settle[]): Promise<SettleReply[]> {
		return (await this.changes.submit(ends.map(ending))).map(settled);
	}

	async extend(leases: readonly Extension[]): Promise<ExtensionReply[]> {
		return (await this.changes.submit(leases.map(extending))).map(extended);
	}

	async advance(steps: readonly Step[]): Promise<StepReply[]> {
		return (await this.steps.submit(steps.map(advancing))).map(advanced);
	}

	async reopen(orders: readonly Reopening[]): Promise<ReopeningReply[]> {
		return (await this.changes.submit(orders.map(reopening))).map(reopened);
	}

	async resolve(orders: readonly Resolution[]): Promise<ResolutionReply[]> {
		return (await this.changes.submit(orders.map(resolving))).map(resolved);
	}

	close(reason: StoreError): void {
		this.changes.close(reason);
		this.steps.close(reason);
	}

	/** The first open change of each key, one statement for each kind. Two changes of one key are judged one after the other. */
	private async changeFirsts(
		query: Query,
		open: ReadonlyMap<number, Change>,
		lockTimeout: string,
		answer: (index: number, row: Row) => void,
	): Promise<void> {
		const firsts = firstOfEach(open, ({ wire }) => keyName(wire));
		for (const kind of new Set(firsts.map(([, { statement }]) => statement))) {
			const sorted = inKeyOrder(firsts.filter(([, { statement }]) => statement === kind), ([, { wire }]) => wire);
			const asks = sorted.map(([, { wire }], ord) => ({ ord, ...wire }));
			const statement = kind === 'settle' && asks.some((ask) => this.isLaden(ask)) ? 'settle_full' : kind;
			const rows = await query(this.tables.sql(statement), [JSON.stringify(asks), asks.length, lockTimeout]);
			if (rows.length !== asks.length) throw unforeseen('The Postgres store gave fewer answers than it was asked');
			for (const row of rows) {
				const [index, { wire }] = sorted[number(row['ord'])] as (typeof sorted)[number];
				if (row['verdict'] === 'laden') this.noteLaden(wire.scope);
				else answer(index, row);
			}
		}
	}

	private noteLaden(scope: string): void {
		// A scope may be computed from the event, and a process lives long. What is forgotten costs one more statement.
		if (this.ladenScopes.size >= MOST_SCOPES) this.ladenScopes.clear();
		this.ladenScopes.add(scope);
	}

	private isLaden({ scope, outbox }: Change['wire']): boolean {
		return outbox !== undefined || this.ladenScopes.has(scope);
	}
}

const MOST_SCOPES = 1000;
