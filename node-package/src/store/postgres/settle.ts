import type { SettleReply } from '../store';
import { keyName, type WireEnd } from './asks';
import type { Query } from './connection';
import { number, settled, unforeseen } from './replies';
import type { Tables } from './tables';

/** Settles the first end of each key that is open, in one statement. Two ends of one key are judged one after the other. */
export async function settleBatch(
	query: Query,
	tables: Tables,
	open: ReadonlyMap<number, WireEnd>,
	lockTimeout: string,
	answer: (index: number, reply: SettleReply) => void,
): Promise<void> {
	const firsts = new Map<string, number>();
	for (const [index, end] of open) if (!firsts.has(keyName(end))) firsts.set(keyName(end), index);
	// In the order in which claims lock as well.
	const indexes = [...firsts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, index]) => index);
	const ends = indexes.map((index, ord) => ({ ord, ...open.get(index) }));
	const rows = await query(tables.sql('settle'), [JSON.stringify(ends), ends.length, lockTimeout]);
	if (rows.length !== indexes.length) throw unforeseen('The Postgres store gave fewer answers than it was asked');
	for (const row of rows) answer(indexes[number(row['ord'])] as number, settled(row));
}
