import type { Recovered, RecoverySearch } from '../lifecycle';
import { attempts, cleaned, keyText, leaseLength, ownerToken, refused, whole } from './checks';
import type { LoneCalls } from './alone';
import type { Query } from './connection';
import { recovered, text } from './replies';
import type { Tables } from './tables';

/** Takes over what is due, and then sees to it that the next one need not look at what has ended since. */
export async function recoverDue(calls: LoneCalls, tables: Tables, search: RecoverySearch): Promise<Recovered[]> {
	const values = wireRecovery(search);
	const records = await calls.run(async (query) => await query(tables.sql('recover'), values), { onceOnly: true });
	// What was taken over is the caller's, whatever becomes of the floor: the next recovery tries again.
	await calls.run(async (query) => await raiseFloor(query, tables)).catch(() => {});
	return records.map(recovered);
}

async function raiseFloor(query: Query, tables: Tables): Promise<void> {
	const [row] = await query(tables.sql('floor_bound'), []);
	await query(tables.sql('floor_raise'), [text(row?.['bound'])]);
}

/** The two values of recover.sql. */
function wireRecovery(search: RecoverySearch): readonly [search: string, owners: string] {
	const { which, scope, provider, maxAttempts, owners } = search;
	const most = whole('The number of records', search.limit, 1, MOST_AT_ONCE);
	if (owners.length < most) throw refused(`There are ${owners.length} owner tokens for ${most} records`);
	if (new Set(owners).size !== owners.length) throw refused('Two records would have the same owner token');
	const wire = {
		stale: which !== 'failed',
		failed: which !== 'stale',
		tests: search.tests === true,
		scope: scope === null ? null : keyText('The scope', scope, 512),
		provider: provider === null ? null : keyText('The provider', provider, 200),
		most,
		lease_ms: leaseLength(search.leaseMs),
		max_attempts: maxAttempts === null ? null : attempts(maxAttempts),
		on_hold: search.unfinished === 'hold',
		execution_id: cleaned(search.executionId, 200),
	};
	return [JSON.stringify(wire), JSON.stringify(owners.map(ownerToken))];
}

const MOST_AT_ONCE = 10_000;
