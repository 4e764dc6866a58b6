import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../node-package/src/store/postgres';
import type { ClaimAsk, StoreReply } from '../../node-package/src/store/store';
import { startPostgres } from '../../scripts/setup/postgres.mjs';
import { pgClients } from '../harness/pg-clients';

/** What a claim costs in the database: facts that a careless index or column would change unnoticed. */
describe('the rows of the Postgres store', () => {
	const schema = `gate_rows_${randomBytes(6).toString('hex')}`;
	let server: Awaited<ReturnType<typeof startPostgres>>;
	let admin: pg.Client;

	beforeAll(async () => {
		server = await startPostgres();
		admin = new pg.Client(server.url);
		await admin.connect();
	});
	afterAll(async () => {
		await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
		await admin.end();
		await server.stop();
	});

	it.each([
		{ kind: 'plain', more: {}, most: 400 },
		// Most of what is saved is in a table of its own, and goes when the claim is completed. 25 bytes name the object.
		{ kind: 'laden', more: { payload: payload(), subject: { key: 'subscription:sub_12345678', version: '1' } }, most: 450 },
	] as const)('completing is a HOT update, and a completed claim is small: $kind', async ({ kind, more, most }) => {
		const prefix = `n8n_${kind}`;
		const store = createPostgresStore(pgClients({ connectionString: server.url }), { schema, prefix });
		await store.prepare();
		// Claims come in bunches and are completed some time later, each when its workflow ends. (Completed in bunches of
		// neighbours, their new versions do not find room in one page: then it is the price of a gathered statement.)
		const claims = 3_000;
		const inWork = 200;
		const step = 20;
		const owned: Array<{ ask: ClaimAsk; reply: StoreReply }> = [];
		for (let n = 0; n < claims + inWork; n += step) {
			if (n < claims) {
				const asks = Array.from({ length: step }, () => ({ ...ask(), ...more }));
				const replies = await store.claim(asks);
				owned.push(...asks.map((one, at) => ({ ask: one, reply: replies[at] as StoreReply })));
			}
			const due = owned.splice(0, n < inWork ? 0 : step);
			for (const { ask: { key, owner }, reply: { fence } } of due) {
				await store.settle([{ key, owner, fence: fence as string, to: { state: 'completed' } }]);
			}
		}
		// Closing the connections hands in their statistics, each when its server process has come to its end.
		await store.close();
		const measure = async (): Promise<Record<'updates' | 'hot' | 'heap' | 'indexes', string>> => {
			const { rows } = await admin.query<Record<'updates' | 'hot' | 'heap' | 'indexes', string>>(
				`SELECT n_tup_upd AS updates, n_tup_hot_upd AS hot, pg_table_size(relid) AS heap, pg_indexes_size(relid) AS indexes
				FROM pg_stat_user_tables WHERE schemaname = $1 AND relname = $2`,
				[schema, `${prefix}_claims`],
			);
			return rows[0] as Record<'updates' | 'hot' | 'heap' | 'indexes', string>;
		};
		await expect.poll(async () => Number((await measure()).updates), { timeout: 20_000 }).toBe(claims);
		const { updates, hot, heap, indexes } = await measure();
		const hotShare = Number(hot) / Number(updates);
		const perClaim = (bytes: string): number => Math.round(Number(bytes) / claims);
		console.log(`${kind}: HOT ${(hotShare * 100).toFixed(1)} %, ${perClaim(heap)} B heap + ${perClaim(indexes)} B indexes per claim`);
		expect(hotShare).toBeGreaterThan(0.98);
		// 88 bytes of it are the names, once in the table and once in the index.
		expect(perClaim(heap) + perClaim(indexes)).toBeLessThan(most);
		const saved = await admin.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${schema}.${prefix}_payloads`);
		expect(saved.rows[0]?.n).toBe(0);
	});
});

function payload(): NonNullable<ClaimAsk['payload']> {
	return { headers: [['content-type', 'application/json']], body: randomBytes(2000), keep: 'until_completed' };
}

function ask(): ClaimAsk {
	return {
		// 25, 6 and 28 bytes: an n8n workflow, a provider, a Stripe event.
		key: { scope: 'workflow:AbCdEfGhIjKlMnOp', provider: 'stripe', eventId: `evt_${randomBytes(18).toString('base64url')}` },
		eventType: 'invoice.paid',
		owner: randomBytes(16).toString('hex'),
		bodyDigest: `sha256:${randomBytes(32).toString('hex')}`,
		leaseMs: 60_000,
		maxAttempts: 5,
		unfinished: 'take_over',
		payloadChanged: 'duplicate',
		guards: [],
		executionId: '123456',
	};
}
