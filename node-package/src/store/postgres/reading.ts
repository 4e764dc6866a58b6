import type { ClaimFilter, Lifecycle } from '../lifecycle';
import type { MessageSearch, ShownMessage } from '../outbox';
import type { Payload } from '../payload';
import type { EventKey, StoredClaim } from '../store';
import type { LoneCalls } from './alone';
import { cleaned, keyText, whole } from './checks';
import { wireKey } from './keys';
import { shown } from './messages';
import { keyOf, payloadOf, STATE_LETTERS, stored } from './replies';
import type { Tables } from './tables';

/** What only reads: for people and tests, never a basis for a claim. */

export async function findClaim(calls: LoneCalls, tables: Tables, key: EventKey): Promise<StoredClaim | null> {
	const values = keyValues(key);
	const [row] = await calls.run(async (query) => await query(tables.sql('find'), values));
	return row ? stored(key, row) : null;
}

export async function findPayload(calls: LoneCalls, tables: Tables, key: EventKey): Promise<Payload | null> {
	const values = keyValues(key);
	const [row] = await calls.run(async (query) => await query(tables.sql('find_payload'), values));
	return row ? payloadOf(row) : null;
}

export async function listClaims(calls: LoneCalls, tables: Tables, filter: ClaimFilter): Promise<StoredClaim[]> {
	const { states, scope, provider, eventType, fromMs, toMs, limit } = filter;
	return await matching(calls, tables, {
		states: states.length === 0 ? null : states.map((state) => STATE_LETTERS[state]).join(','),
		scope: scope === null ? null : keyText('The scope', scope, 512),
		provider: provider === null ? null : keyText('The provider', provider, 200),
		event_type: cleaned(eventType, 200),
		from_ms: fromMs,
		to_ms: toMs,
		execution_id: null,
		unfinished: false,
		most: limit,
	});
}

export async function findByExecution(
	calls: LoneCalls,
	tables: Tables,
	{ executionId, unfinished, limit }: Parameters<Lifecycle['findByExecution']>[0],
): Promise<StoredClaim[]> {
	return await matching(calls, tables, {
		states: unfinished ? STATE_LETTERS.processing : null,
		scope: null,
		provider: null,
		event_type: null,
		from_ms: null,
		to_ms: null,
		execution_id: cleaned(executionId, 200),
		unfinished,
		most: limit,
	});
}

export async function showMessages(
	calls: LoneCalls,
	tables: Tables,
	{ scope, topic, limit, tests = false }: Omit<MessageSearch, 'owner' | 'leaseMs'>,
): Promise<ShownMessage[]> {
	const values = [
		scope === null ? null : keyText('The scope of the messages', scope, 512),
		topic === null ? null : keyText('The topic of the messages', topic, 200),
		whole('The number of messages', limit, 1, MOST_AT_ONCE),
		tests,
	];
	return (await calls.run(async (query) => await query(tables.sql('outbox_show'), values))).map(shown);
}

/** The parameters of list.sql; `null` holds for all. */
interface Conditions {
	/** Letters, with commas. */
	readonly states: string | null;
	readonly scope: string | null;
	readonly provider: string | null;
	readonly event_type: string | null;
	readonly from_ms: number | null;
	readonly to_ms: number | null;
	readonly execution_id: string | null;
	readonly unfinished: boolean;
	readonly most: number;
}

async function matching(calls: LoneCalls, tables: Tables, wanted: Conditions): Promise<StoredClaim[]> {
	const { states, scope, provider, event_type, from_ms, to_ms, execution_id, unfinished } = wanted;
	const most = whole('The number of records', wanted.most, 1, MOST_AT_ONCE);
	const values = [states, scope, provider, event_type, from_ms, to_ms, execution_id, unfinished, most];
	const rows = await calls.run(async (query) => await query(tables.sql('list'), values));
	return rows.map((row) => stored(keyOf(row), row));
}

const MOST_AT_ONCE = 100_000;

function keyValues(key: EventKey): readonly string[] {
	const { scope, provider, event_id } = wireKey(key);
	return [scope, provider, event_id];
}
