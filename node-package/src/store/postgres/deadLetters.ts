import type { DeadLetter, DeadLetterSearch } from '../lifecycle';
import type { LoneCalls } from './alone';
import { matching, whole } from './checks';
import { keyOf, payloadOf, stored, text } from './replies';
import type { Tables } from './tables';

export async function readDeadLetters(calls: LoneCalls, tables: Tables, { after, missing, limit }: DeadLetterSearch): Promise<DeadLetter[]> {
	const numbers = [after, ...missing].map((id) => matching('The number of a dead letter', id, NUMBER));
	const most = whole('The number of dead letters', limit, 1, MOST_AT_ONCE);
	const values = [numbers[0], numbers.slice(1).join(','), most];
	const rows = await calls.run(async (query) => await query(tables.sql('dead_letters'), values));
	return rows.map((row): DeadLetter => {
		const id = text(row['letter_id']);
		if (row['scope'] === null) return { id, claim: null, payload: null };
		return { id, claim: stored(keyOf(row), row), payload: payloadOf(row) };
	});
}

const NUMBER = /^(0|[1-9][0-9]{0,17})$/;
const MOST_AT_ONCE = 10_000;
