import { StoreError } from '../../errors';
import type { Verdict } from '../../wasm/generated/vocabulary';
import type { StoreReply } from '../store';
import { keysOf, type WireAsk } from './asks';
import type { Query } from './connection';
import { inKeyOrder, keyName } from './keys';
import { granted, neverClaimed, number, refused, type Row, text, unforeseen } from './replies';
import type { Statement, Tables } from './tables';

/**
 * Claims a batch of asks: first what nobody has (one statement, and most deliveries end there), then look at the rest,
 * then grant under the locks what may be granted. What changed under our hands goes round again; each further round is
 * caused by somebody else's commit. Of several asks that share a key, the first is tried, and the others are judged by
 * what came of it.
 *
 * Why not one statement for everything: planning it costs more than running it. By tests/bench/claim-shapes.mjs this way
 * claims fresh keys at 1.7 to 2.0 times the rate one by one (1.3 on a durable disk), 1.0 to 1.4 times in batches of 32,
 * about equal in batches of 128; duplicates at 0.9 to 1.1, 0.8 and 0.7 to 0.9 times, since they take a second round trip.
 */
export async function claimBatch(
	query: Query,
	tables: Tables,
	asks: readonly WireAsk[],
	lockTimeout: string,
	answer: (index: number, reply: StoreReply) => void,
): Promise<void> {
	const batch = new Batch(query, tables, lockTimeout, answer);
	let open = inOrder(asks);
	for (let round = 0; open.length > 0; round++) {
		if (round === ROUNDS) throw neverTheSame();
		open = await batch.claimFresh(open);
		if (open.length === 0) return;
		const { toGrant, again } = await batch.judge(open);
		const changed = await batch.grant(toGrant);
		open = [...again, ...changed].sort((a, b) => a.ord - b.ord);
	}
}

/** An ask with its place in the caller's batch and in the order in which all processes lock. */
interface Open {
	readonly ask: WireAsk;
	readonly keys: readonly string[];
	readonly index: number;
	readonly ord: number;
}

interface Grantable extends Open {
	readonly verdict: Verdict;
	/** Version of the record that was judged; `null` where none exists. */
	readonly version: string | null;
	readonly guards: ReadonlyArray<Record<string, unknown>>;
}

const ROUNDS = 100;

/** Of one key, the first to ask comes first. */
function inOrder(asks: readonly WireAsk[]): Open[] {
	const indexed = asks.map((ask, index) => ({ ask, index, keys: keysOf(ask) }));
	return inKeyOrder(indexed, ({ ask }) => ask).map((one, ord) => ({ ...one, ord }));
}

/** Those that have no key in common with one before them: only they may meet in a statement that writes. */
function apart<Some extends Open>(open: readonly Some[]): Some[] {
	const taken = new Set<string>();
	return open.filter(({ keys }) => {
		const free = !keys.some((key) => taken.has(key));
		if (free) for (const key of keys) taken.add(key);
		return free;
	});
}

class Batch {
	/** Claims that are made but not answered yet, since their lease is to begin anew, by the verdict to be given. */
	private readonly renewing = new Map<number, Verdict>();

	constructor(
		private readonly query: Query,
		private readonly tables: Tables,
		private readonly lockTimeout: string,
		private readonly answer: (index: number, reply: StoreReply) => void,
	) {}

	/** Gives back those that are not fresh. */
	async claimFresh(open: Open[]): Promise<Open[]> {
		const tried = apart(open);
		const asks = tried.map(({ ask, ord }) => ({ ord, ...ask }));
		const began = performance.now();
		const rows = await this.run(freshStatement(asks), asks, this.lockTimeout);
		const tookMs = performance.now() - began;
		const claimed = new Map(rows.filter((row) => row['fence'] !== null).map((row) => [nameOf(row), row]));
		const answered = tried.filter((one) => {
			const row = claimed.get(keyName(one.ask));
			return row !== undefined && this.own('claimed', one, row, tookMs);
		});
		return without(open, answered);
	}

	/** Answers refusals; says of the others what may be done to them. */
	async judge(open: Open[]): Promise<{ toGrant: Grantable[]; again: Open[] }> {
		const rows = await this.rowsOf('claim_judge', open);
		const again: Open[] = [];
		const toGrant: Grantable[] = [];
		const wanted: Grantable[] = [];
		for (const one of open) {
			const [row] = rows.get(one.ord) ?? [];
			if (!row) throw notOneEach();
			const verdict = text(row['verdict']) as Verdict;
			const version = row['version'] === null ? null : text(row['version']);
			const grantable = { ...one, verdict, version, guards: [] };
			if (GRANTS.has(verdict)) wanted.push(grantable);
			else if (verdict === 'reentrant' && row['state'] === 'c') this.answer(one.index, granted(verdict, row, one.ask));
			else if (MOVES.has(verdict)) toGrant.push(grantable);
			else this.answer(one.index, refused(verdict, row, 'event_id'));
		}
		const { superseded, current } = await this.judgeSubjects(wanted);
		toGrant.push(...superseded);
		for (const one of await this.judgeGuards(current)) {
			const nothingThere = one.verdict === 'claimed' && one.guards.every(({ holding }) => holding === 'free');
			if (nothingThere) again.push(one);
			else toGrant.push(one);
		}
		return { toGrant, again };
	}

	/** Parts those that are older than what was completed for their object; answers them where there is no record to end. */
	private async judgeSubjects(asked: Grantable[]): Promise<{ superseded: Grantable[]; current: Grantable[] }> {
		const about = asked.filter(({ ask }) => ask.subject_key !== undefined);
		if (about.length === 0) return { superseded: [], current: asked };
		const rows = await this.rowsOf('claim_subjects', about);
		const older = about.filter(({ ord }) => rows.get(ord)?.[0]?.['superseded'] === true);
		for (const one of older) {
			if (one.version === null) this.answer(one.index, neverClaimed('superseded', rows.get(one.ord)?.[0] as Row));
		}
		const superseded = older.filter(({ version }) => version !== null).map((one) => ({ ...one, verdict: 'superseded' as const }));
		return { superseded, current: without(asked, older) };
	}

	/** Answers those whose guard is another event's; gives the others back with what is known of their guards. */
	private async judgeGuards(asked: Grantable[]): Promise<Grantable[]> {
		const guarded = asked.filter(({ ask }) => ask.guards.length > 0);
		if (guarded.length === 0) return asked;
		const rows = await this.rowsOf('claim_guards', guarded);
		return asked.flatMap((one) => {
			if (one.ask.guards.length === 0) return one;
			const guards = rows.get(one.ord) ?? [];
			if (guards.length !== one.ask.guards.length) throw notOneEach();
			const rival = guards.find(({ holding }) => holding === 'rival');
			if (!rival) {
				return { ...one, guards: guards.map(({ holding, version }, at) => ({ ...one.ask.guards[at], holding, version })) };
			}
			const business = one.ask.guards[number(rival['guard_ord'])]?.kind === 'k';
			const reply = business
				? refused('business_duplicate', rival, 'business_key')
				: refused('body_duplicate', rival, 'body_digest');
			this.answer(one.index, reply);
			return [];
		});
	}

	/** Gives back those whose record or guard was changed by somebody else meanwhile. */
	async grant(toGrant: Grantable[]): Promise<Open[]> {
		if (toGrant.length === 0) return [];
		const tried = apart(toGrant.sort((a, b) => a.ord - b.ord));
		const asks = tried.map(({ ask, ord, verdict, version, guards }) => ({ ...ask, ord, verdict, version, guards }));
		const began = performance.now();
		const rows = byOrd(await this.run('claim_grant', asks, this.lockTimeout));
		const tookMs = performance.now() - began;
		const answered = tried.filter((one) => {
			const [row] = rows.get(one.ord) ?? [];
			if (!row) throw notOneEach();
			if (row['fence'] === null) return false;
			if (GRANTS.has(one.verdict) || one.verdict === 'reentrant') return this.own(one.verdict, one, row, tookMs);
			this.answer(one.index, refused(one.verdict, row, one.verdict === 'superseded' ? null : 'event_id'));
			return true;
		});
		return without(toGrant, answered);
	}

	/**
	 * Answers a claim that is ours. False where it took more than a twentieth of the lease to get it: the lease was
	 * computed before the statement waited for its rivals, so the claim goes round once more, as our own, to renew it.
	 */
	private own(verdict: Verdict, { ask, index }: Open, row: Row, tookMs: number): boolean {
		const renewed = this.renewing.get(index);
		if (renewed === undefined && row['lease_ms'] !== null && tookMs * 20 > ask.lease_ms) {
			this.renewing.set(index, verdict);
			return false;
		}
		this.answer(index, granted(renewed ?? verdict, row, ask));
		return true;
	}

	private async rowsOf(statement: 'claim_judge' | 'claim_subjects' | 'claim_guards', open: readonly Open[]): Promise<Map<number, Row[]>> {
		// What is to be stored with the claim may be large, and is not looked at here.
		return byOrd(await this.run(statement, open.map(({ ask, ord }) => ({ ...ask, ord, payload: undefined, outbox: undefined }))));
	}

	private async run(statement: Statement, asks: readonly object[], ...values: readonly string[]): Promise<readonly Row[]> {
		return await this.query(this.tables.sql(statement), [JSON.stringify(asks), asks.length, ...values]);
	}
}

/** The least that will do: what it costs to plan a statement grows with what it could do. */
function freshStatement(asks: readonly WireAsk[]): Statement {
	const laden = asks.some(({ payload, subject_key, outbox }) => (payload ?? subject_key ?? outbox) !== undefined);
	if (laden) return 'claim_fresh_full';
	return asks.some(({ guards }) => guards.length > 0) ? 'claim_fresh_guarded' : 'claim_fresh';
}

/** Verdicts by which the asker gets the event, and with it its guards. */
const GRANTS: ReadonlySet<Verdict> = new Set(['claimed', 'retried', 'taken_over']);
/** Other verdicts that change the record. */
const MOVES: ReadonlySet<Verdict> = new Set(['reentrant', 'held', 'exhausted']);

function without<Some>(all: readonly Some[], some: readonly Some[]): Some[] {
	const out = new Set(some);
	return all.filter((one) => !out.has(one));
}

function byOrd(rows: readonly Row[]): Map<number, Row[]> {
	const groups = new Map<number, Row[]>();
	for (const row of rows) {
		const ord = number(row['ord']);
		groups.set(ord, [...(groups.get(ord) ?? []), row]);
	}
	return groups;
}

function nameOf(row: Row): string {
	return keyName({ scope: text(row['scope']), provider: text(row['provider']), event_id: text(row['event_id']) });
}

function notOneEach(): StoreError {
	return unforeseen('The Postgres store gave fewer answers than it was asked');
}

function neverTheSame(): StoreError {
	const help = 'Nothing is known about the claim. The event can be delivered again safely.';
	return new StoreError('store_busy', 'The Postgres store is busy: the record of this key kept changing', help);
}
