import { StoreError } from '../../errors';
import type { Verdict } from '../../wasm/generated/vocabulary';
import type { StoreReply } from '../store';
import { keyName, type WireAsk } from './asks';
import type { Query } from './connection';
import { granted, number, refused, type Row, text } from './replies';
import type { Tables } from './tables';

/**
 * Claims a batch of asks with distinct keys: first what nobody has (one statement, and most deliveries end there), then
 * look at the rest, then grant under the locks what may be granted. What changed under our hands goes round again; each
 * further round is caused by somebody else's commit.
 *
 * Why not one statement for everything: planning it costs more than running it. Measured by tests/bench/claim-shapes.mjs
 * (README there): fresh keys 2 to 3 times as fast one by one, duplicates 0.7 times.
 */
export async function claimBatch(
	query: Query,
	tables: Tables,
	asks: readonly WireAsk[],
	lockTimeout: string,
	answer: (index: number, reply: StoreReply) => void,
): Promise<void> {
	let open = inOrder(asks);
	for (let round = 0; open.length > 0; round++) {
		if (round === ROUNDS) throw neverTheSame();
		open = await claimFresh(query, tables, open, lockTimeout, answer);
		if (open.length === 0) return;
		const { toGrant, again } = await judge(query, tables, open, answer);
		const changed = await grant(query, tables, toGrant, lockTimeout, answer);
		open = [...again, ...changed].sort((a, b) => a.ord - b.ord);
	}
}

/** An ask with its place in the caller's batch and in the order in which all processes lock. */
interface Open {
	readonly ask: WireAsk;
	readonly index: number;
	readonly ord: number;
}

interface Grantable extends Open {
	readonly verdict: Verdict;
	/** Version of the record that was judged; `null` where none exists. */
	readonly version: string | null;
	readonly guards: ReadonlyArray<Record<string, unknown>>;
}

type Answer = (index: number, reply: StoreReply) => void;

const ROUNDS = 100;

/** Any order will do, if it is everybody's. */
function inOrder(asks: readonly WireAsk[]): Open[] {
	return asks
		.map((ask, index) => ({ ask, index, name: keyName(ask) }))
		.sort((a, b) => (a.name < b.name ? -1 : 1))
		.map(({ ask, index }, ord) => ({ ask, index, ord }));
}

async function claimFresh(query: Query, tables: Tables, open: Open[], lockTimeout: string, answer: Answer): Promise<Open[]> {
	const guarded = open.some(({ ask }) => ask.guards.length > 0);
	const sql = tables.sql(guarded ? 'claim_fresh_guarded' : 'claim_fresh');
	const rows = await query(sql, [JSON.stringify(open.map(({ ask, ord }) => ({ ord, ...ask }))), lockTimeout]);
	const claimed = new Map(rows.filter((row) => row['fence'] !== null).map((row) => [nameOf(row), row]));
	return open.filter(({ ask, index }) => {
		const row = claimed.get(keyName(ask));
		if (row) answer(index, granted('claimed', row, ask));
		return row === undefined;
	});
}

async function judge(query: Query, tables: Tables, open: Open[], answer: Answer) {
	const rows = await query(tables.sql('claim_judge'), [JSON.stringify(open.map(({ ask, ord }) => ({ ord, ...ask })))]);
	const byOrd = new Map(rows.map((row) => [number(row['ord']), row]));
	const again: Open[] = [];
	const toGrant: Grantable[] = [];
	const guarded: Grantable[] = [];
	for (const one of open) {
		const row = byOrd.get(one.ord);
		if (!row) throw notOneEach();
		const verdict = text(row['verdict']) as Verdict;
		const version = row['version'] === null ? null : text(row['version']);
		const grantable = { ...one, verdict, version, guards: [] };
		if (GRANTS.has(verdict) && one.ask.guards.length > 0) guarded.push(grantable);
		else if (verdict === 'claimed') again.push(one);
		else if (verdict === 'reentrant' && row['state'] === 'c') answer(one.index, granted(verdict, row, one.ask));
		else if (MOVES.has(verdict)) toGrant.push(grantable);
		else answer(one.index, refused(verdict, row, 'event_id'));
	}
	for (const one of await lookAtGuards(query, tables, guarded, answer)) {
		const nothingThere = one.verdict === 'claimed' && one.guards.every(({ holding }) => holding === 'free');
		if (nothingThere) again.push(one);
		else toGrant.push(one);
	}
	return { toGrant, again };
}

/** Verdicts by which the asker gets the event, and with it its guards. */
const GRANTS: ReadonlySet<Verdict> = new Set(['claimed', 'retried', 'taken_over']);
/** Verdicts that change the record. */
const MOVES: ReadonlySet<Verdict> = new Set(['reentrant', 'retried', 'taken_over', 'held', 'exhausted']);

/** Answers those whose guard is another event's; gives the others back with what is known of their guards. */
async function lookAtGuards(query: Query, tables: Tables, asked: Grantable[], answer: Answer): Promise<Grantable[]> {
	if (asked.length === 0) return [];
	const rows = await query(tables.sql('claim_guards'), [JSON.stringify(asked.map(({ ask, ord }) => ({ ord, ...ask })))]);
	const byOrd = new Map<number, Row[]>();
	for (const row of rows) {
		const ord = number(row['ord']);
		byOrd.set(ord, [...(byOrd.get(ord) ?? []), row]);
	}
	return asked.flatMap((one) => {
		const guards = byOrd.get(one.ord) ?? [];
		if (guards.length !== one.ask.guards.length) throw notOneEach();
		const rival = guards.find(({ holding }) => holding === 'rival');
		if (!rival) {
			return { ...one, guards: guards.map(({ holding, version }, at) => ({ ...one.ask.guards[at], holding, version })) };
		}
		const business = one.ask.guards[number(rival['guard_ord'])]?.kind === 'k';
		const reply = business
			? refused('business_duplicate', rival, 'business_key')
			: refused('body_duplicate', rival, 'body_digest');
		answer(one.index, reply);
		return [];
	});
}

/** Gives back those whose record or guard was changed by somebody else meanwhile. */
async function grant(query: Query, tables: Tables, toGrant: Grantable[], lockTimeout: string, answer: Answer): Promise<Open[]> {
	if (toGrant.length === 0) return [];
	const wire = toGrant
		.sort((a, b) => a.ord - b.ord)
		.map(({ ask, ord, verdict, version, guards }) => ({ ...ask, ord, verdict, version, guards }));
	const rows = await query(tables.sql('claim_grant'), [JSON.stringify(wire), lockTimeout]);
	const byOrd = new Map(rows.map((row) => [number(row['ord']), row]));
	return toGrant.filter(({ ask, index, ord, verdict }) => {
		const row = byOrd.get(ord);
		if (!row) throw notOneEach();
		if (row['fence'] === null) return true;
		const ours = GRANTS.has(verdict) || verdict === 'reentrant';
		answer(index, ours ? granted(verdict, row, ask) : refused(verdict, row, 'event_id'));
		return false;
	});
}

function nameOf(row: Row): string {
	return keyName({ scope: text(row['scope']), provider: text(row['provider']), event_id: text(row['event_id']) });
}

function notOneEach(): StoreError {
	return new StoreError('store_unavailable', 'The Postgres store gave fewer answers than it was asked', 'Please report this as a bug.');
}

function neverTheSame(): StoreError {
	const help = 'Nothing is known about the claim. The event can be delivered again safely.';
	return new StoreError('store_busy', 'The Postgres store is busy: the record of this key kept changing', help);
}
