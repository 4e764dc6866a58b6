import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore, setupSql } from '../../node-package/src/store/postgres';
import type { ClaimAsk, Store } from '../../node-package/src/store/store';
import { behindBarrier } from '../../node-package/src/testing/laws/cast';
import { startPostgres } from '../../scripts/setup/postgres.mjs';
import { pgClients } from '../harness/pg-clients';
import { openGround } from '../model/ground';
import { firstFault, newTally, report } from '../model/search';
import { throughFunctions } from './functions-store';

const versions = process.env['GATE_TEST_POSTGRES_URL'] ? [undefined] : (['15', '18'] as const);

describe.each(versions)('the SQL functions for applications on PostgreSQL %s', (version) => {
	const schema = `gate_functions_${randomBytes(4).toString('hex')}`;
	const f = (name: string): string => `${schema}.n8n_idempotency_${name}`;
	let server: Awaited<ReturnType<typeof startPostgres>>;
	let admin: pg.Pool;
	let store: Store;

	beforeAll(async () => {
		server = await startPostgres(version === undefined ? {} : { version });
		admin = new pg.Pool({ connectionString: server.url, max: 24 });
		store = createPostgresStore(pgClients({ connectionString: server.url, max: 4 }), { schema });
		await store.prepare();
		await admin.query(`CREATE TABLE ${schema}.charges (event_id text, amount int)`);
		// What an application writes: the claim, its own rows, what is to be sent and the end, all in one transaction.
		await admin.query(`CREATE FUNCTION ${schema}.charge(event text, cents int) RETURNS text LANGUAGE plpgsql AS $$
			DECLARE mine record;
			BEGIN
				SELECT * INTO mine FROM ${f('claim')}('billing', 'stripe', event);
				IF NOT mine.claimed THEN RETURN mine.verdict; END IF;
				INSERT INTO ${schema}.charges VALUES (event, cents);
				IF cents < 0 THEN RAISE EXCEPTION 'a charge is positive'; END IF;
				PERFORM ${f('add_message')}('billing', 'receipt ' || event, 'mail', json_build_object('cents', cents));
				RETURN ${f('complete')}('billing', 'stripe', event, mine.owner, mine.fence, json_build_object('cents', cents));
			END $$`);
	});
	afterAll(async () => {
		await store?.close();
		await admin?.query(`DROP SCHEMA ${schema} CASCADE`);
		await admin?.end();
		await server?.stop();
	});

	const one = async (text: string, values: unknown[] = [], client: pg.Pool | pg.PoolClient = admin): Promise<Record<string, unknown>> =>
		(await client.query<Record<string, unknown>>(text, values)).rows[0] ?? {};
	const charge = async (event: string, cents = 100): Promise<unknown> =>
		(await one(`SELECT ${schema}.charge($1, $2) AS verdict`, [event, cents]))['verdict'];
	const traces = async (event: string): Promise<unknown> =>
		await one(
			`SELECT (SELECT count(*)::int FROM ${f('claims')} WHERE event_id = $1) AS claims,
				(SELECT count(*)::int FROM ${schema}.charges WHERE event_id = $1) AS charges,
				(SELECT count(*)::int FROM ${f('outbox')} WHERE message_key = 'receipt ' || $1) AS messages`,
			[event],
		);
	const refusal = async (text: string, values: unknown[] = []): Promise<pg.DatabaseError> =>
		await admin.query(text, values).then(
			() => expect.fail('an error was expected'),
			(error: unknown) => error as pg.DatabaseError,
		);

	it('a procedure claims, writes its rows, adds a message and completes in one commit', async () => {
		expect(await charge('evt_1', 250)).toBe('settled');
		expect(await charge('evt_1', 250)).toBe('completed');
		expect(await traces('evt_1')).toEqual({ claims: 1, charges: 1, messages: 1 });
		// The library sees the same event, with its result, and sends the message.
		const [reply] = await store.claim([ask('evt_1')]);
		expect(reply).toMatchObject({ verdict: 'completed', state: 'completed', result: { cents: 250 } });
		const [message] = await store.nextMessages({ scope: 'billing', topic: 'mail', limit: 1, owner: token(), leaseMs: 60_000 });
		expect(message).toMatchObject({ messageKey: 'receipt evt_1', body: '{"cents" : 250}', attempt: 1 });
	});

	it('a rollback leaves neither claim nor row nor message, and the event can be claimed again', async () => {
		await expect(charge('evt_2', -1)).rejects.toThrow('a charge is positive');
		expect(await traces('evt_2')).toEqual({ claims: 0, charges: 0, messages: 0 });
		expect(await charge('evt_2')).toBe('settled');
	});

	it('of 20 callers at once one charges, also where the first ones fail', async () => {
		for (let round = 0; round < 5; round++) {
			const all = await behindBarrier(Array.from({ length: 20 }, () => async () => await charge(`race_${round}`)));
			expect(count(all)).toEqual({ settled: 1, completed: 19 });
			const some = await behindBarrier(
				Array.from({ length: 20 }, (_, n) => async () => await charge(`luck_${round}`, n < 10 ? -1 : 5).catch(() => 'failed')),
			);
			expect(count(some)).toMatchObject({ settled: 1 });
			expect(await traces(`luck_${round}`)).toEqual({ claims: 1, charges: 1, messages: 1 });
		}
	});

	it('completes a claim that a node has made, with the receipt that it passed on', async () => {
		const asked = { ...ask('evt_3'), payload: { keep: 'until_completed', headers: [], body: Buffer.from('{}') } as const };
		const [claimed] = await store.claim([asked]);
		const complete = `SELECT ${f('complete')}('billing', 'stripe', 'evt_3', $1, $2, '{"charge":"ch_1"}') AS verdict`;
		const receipt = [asked.owner, claimed?.fence];
		expect(await one(complete, receipt)).toEqual({ verdict: 'settled' });
		expect(await one(complete, receipt)).toEqual({ verdict: 'already' });
		expect(await store.find(asked.key)).toMatchObject({ state: 'completed', result: { charge: 'ch_1' } });
		expect(await store.findPayload(asked.key)).toBeNull();
	});

	it('an event that was completed when it was claimed gets the result of its end, once', async () => {
		const at = `'billing', 'stripe', 'at once'`;
		const mine = await one(`SELECT owner, fence FROM ${f('claim')}(${at}, unfinished => 'complete_on_claim')`);
		for (const result of ['"first"', '"second"']) {
			const end = await one(`SELECT ${f('complete')}(${at}, $1, $2, $3) AS verdict`, [mine['owner'], mine['fence'], result]);
			expect(end).toEqual({ verdict: 'already' });
		}
		expect(await store.find(ask('at once').key)).toMatchObject({ state: 'completed', result: 'first' });
	});

	it('hold comes before attempts that are used up', async () => {
		const claim = `SELECT verdict, state FROM ${f('claim')}('billing', 'stripe', 'held', unfinished => $1, max_attempts => 1, lease => '1 microsecond')`;
		expect(await one(claim, ['hold'])).toEqual({ verdict: 'claimed', state: 'processing' });
		expect(await one(claim, ['take_over'])).toEqual({ verdict: 'held', state: 'uncertain' });
	});

	it('whoever lost the claim learns it by an error, and none of its rows stay', async () => {
		const mine = await one(`SELECT owner, fence FROM ${f('claim')}('billing', 'stripe', 'evt_4', lease => '1 millisecond')`);
		await one('SELECT pg_sleep(0.01)');
		const theirs = await one(`SELECT verdict, fence FROM ${f('claim')}('billing', 'stripe', 'evt_4')`);
		expect(theirs['verdict']).toBe('taken_over');
		const complete = `${f('complete')}('billing', 'stripe', 'evt_4', $1, $2`;
		const error = await refusal(`WITH work AS (INSERT INTO ${schema}.charges VALUES ('evt_4', 1)) SELECT ${complete})`, [mine['owner'], mine['fence']]);
		expect(error).toMatchObject({ code: '55000', message: expect.stringContaining("'evt_4'") as string, hint: expect.stringContaining('Roll back') as string });
		expect(await traces('evt_4')).toMatchObject({ charges: 0 });
		const told = await one(`SELECT ${complete}, raise_if_fenced_out => false) AS verdict`, [mine['owner'], mine['fence']]);
		expect(told).toEqual({ verdict: 'fenced_out' });
		expect(await store.find(ask('evt_4').key)).toMatchObject({ state: 'processing', attempt: 2, fence: theirs['fence'] });
	});

	it.each(['repeatable read', 'serializable'])('under %s a rival that was faster is an error to try again on, never a second claim', async (isolation) => {
		const clients = await Promise.all(Array.from({ length: 8 }, async () => await admin.connect()));
		const event = `evt ${isolation}`;
		try {
			for (const client of clients) {
				await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
				await client.query('SELECT 1');
			}
			const outcomes = await Promise.all(
				clients.map(async (client) => {
					try {
						const { verdict } = await one(`SELECT ${schema}.charge($1, 1) AS verdict`, [event], client);
						await client.query('COMMIT');
						return verdict;
					} catch (error) {
						await client.query('ROLLBACK');
						return (error as pg.DatabaseError).code;
					}
				}),
			);
			expect(count(outcomes)).toEqual({ settled: 1, '40001': 7 });
		} finally {
			for (const client of clients) client.release();
		}
		expect(await charge(event)).toBe('completed');
		expect(await traces(event)).toEqual({ claims: 1, charges: 1, messages: 1 });
	});

	it.each([
		['step by step', { clients: 3, events: 3, moments: 24, crowded: 0 }],
		['in crowds', { clients: 5, events: 3, moments: 10, crowded: 60 }],
	])('random histories of functions and library calls %s are what the reference says', async (_, size) => {
		// Every other client goes through the functions; they meet at the same records.
		let clients = 0;
		const ground = await openGround(server.url, (one, place) => (clients++ % 2 === 0 ? throughFunctions(one, place) : one));
		try {
			const first = 1 + Math.floor(Math.random() * 1_000_000_000);
			console.log(`from seed ${first}`);
			const found = await firstFault([ground], size, Array.from({ length: 60 }, (__, n) => first + n), newTally());
			expect(found && report(found)).toBeNull();
		} finally {
			await ground.close();
		}
	});

	it.each([
		[`claim('', 'stripe', 'e')`, 'The scope has not 1 to 512 bytes'],
		[`claim('s', NULL, 'e')`, 'The provider has not 1 to 200 bytes'],
		[`claim('s', 'stripe', repeat('x', 513))`, 'The event_id has not 1 to 512 bytes'],
		[`claim('s', 'stripe', 'e', NULL)`, 'The owner is NULL'],
		[`claim('s', 'stripe', 'e', lease => '0')`, 'The lease is not between 0 and 10 years'],
		[`claim('s', 'stripe', 'e', lease => NULL)`, 'The lease is not between 0 and 10 years'],
		[`claim('s', 'stripe', 'e', max_attempts => 0)`, 'The number of max_attempts is not 1 to 32767'],
		[`claim('s', 'stripe', 'e', unfinished => 'wait')`, "There is no policy 'wait' for what is unfinished"],
		[`claim('s', 'stripe', 'e', body_digest => 'abc')`, 'The body_digest has not the form sha256:<64 hex digits>'],
		[`claim('s', 'stripe', 'e', changed_payload => NULL)`, 'There is no policy NULL for a changed payload'],
		[`complete('s', 'stripe', 'e', gen_random_uuid(), NULL)`, 'A part of the receipt is NULL'],
		[`complete('s', 'stripe', 'e', gen_random_uuid(), 1, to_json(repeat('x', 262144)))`, 'The result has 262146 bytes, the limit is 262144'],
		[`add_message('s', '', 'mail', '{}')`, 'The message_key has not 1 to 512 bytes'],
		[`add_message('s', 'k', NULL, '{}')`, 'The topic has not 1 to 200 bytes'],
		[`add_message('s', 'k', 'mail', NULL)`, 'The body has not 1 to 262144 bytes of JSON'],
		[`add_message('s', 'k', 'mail', '{}', ordering_key => '')`, 'The ordering_key has not 1 to 512 bytes'],
		[`add_message('s', 'k', 'mail', '{}', delay => '-1 second')`, 'The delay is not between 0 and 10 years'],
	])('%s is refused, with a hint', async (call, message) => {
		const error = await refusal(`SELECT ${f(call)}`);
		expect(error).toMatchObject({ code: '22023', message });
		expect(error.hint?.length).toBeGreaterThan(10);
	});

	it('a message key is added once, and not at all where the transaction rolls back', async () => {
		const add = `SELECT ${f('add_message')}('once', 'k', 'mail', '{"a": 1,"a":2}', 'order', '1 hour') AS added`;
		expect([await one(add), await one(add)]).toEqual([{ added: true }, { added: false }]);
		const row = await one(`SELECT body, ordering_key, available_at > now() + interval '59 minutes' AS later FROM ${f('outbox')} WHERE scope = 'once'`);
		expect(row).toEqual({ body: '{"a": 1,"a":2}', ordering_key: 'order', later: true });
	});

	it("nobody's search path changes what the functions do, and they have their caller's rights", async () => {
		const role = `${schema}_role`;
		const client = await admin.connect();
		try {
			await client.query(`CREATE SCHEMA ${schema}_evil`);
			await client.query(`CREATE FUNCTION ${schema}_evil.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT ''infinity''::timestamptz'`);
			await client.query(`SET search_path = ${schema}_evil, pg_catalog`);
			expect(await one('SELECT clock_timestamp()::text AS now', [], client)).toEqual({ now: 'infinity' });
			const claimed = await one(`SELECT verdict, lease_until < now() + interval '1 hour' AS sound FROM ${f('claim')}('path', 'stripe', 'e')`, [], client);
			expect(claimed).toEqual({ verdict: 'claimed', sound: true });
			await client.query(`CREATE ROLE ${role}`);
			await client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
			await client.query(`SET ROLE ${role}`);
			await expect(client.query(`SELECT ${f('claim')}('path', 'stripe', 'e')`)).rejects.toMatchObject({ code: '42501' });
		} finally {
			await client.query('RESET ROLE; RESET search_path');
			await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}; DROP SCHEMA ${schema}_evil CASCADE`);
			client.release();
		}
	});

	it('a node that may not create anything works where the functions are missing', async () => {
		const role = `${schema}_node`;
		const place = `${schema}_older`;
		await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'gate'`);
		await admin.query(setupSql({ schema: place, role }));
		const functions = ['claim', 'complete', 'add_message'];
		for (const name of functions) await admin.query(`DROP FUNCTION ${place}.n8n_idempotency_${name}`);
		await admin.query(`DELETE FROM ${place}.n8n_idempotency_migrations WHERE name LIKE '%_function'`);
		const url = new URL(server.url);
		url.username = role;
		url.password = 'gate';
		const node = createPostgresStore(pgClients({ connectionString: url.href, max: 4 }), { schema: place });
		const owner = createPostgresStore(pgClients({ connectionString: server.url, max: 4 }), { schema: place });
		try {
			await node.prepare();
			const [reply] = await node.claim([ask('evt_1')]);
			expect(reply?.verdict).toBe('claimed');
			// Somebody who may, makes them; nothing else changes.
			await owner.prepare();
			const { rows } = await admin.query(`SELECT verdict FROM ${place}.n8n_idempotency_claim('billing', 'stripe', 'evt_1')`);
			expect(rows).toEqual([{ verdict: 'in_progress' }]);
		} finally {
			await node.close();
			await owner.close();
			await admin.query(`DROP SCHEMA ${place} CASCADE; DROP ROLE ${role}`);
		}
	});
});

function ask(eventId: string): ClaimAsk {
	const terms = { leaseMs: 600_000, maxAttempts: 5, unfinished: 'take_over', payloadChanged: 'duplicate' } as const;
	const key = { scope: 'billing', provider: 'stripe', eventId };
	return { key, eventType: null, owner: token(), bodyDigest: null, ...terms, guards: [], executionId: null };
}

function token(): string {
	return randomUUID().replaceAll('-', '');
}

function count(outcomes: readonly unknown[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const outcome of outcomes) counts[String(outcome)] = (counts[String(outcome)] ?? 0) + 1;
	return counts;
}
