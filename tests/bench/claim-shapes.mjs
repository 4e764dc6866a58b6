/**
 * Two ways to claim, measured beside each other: (A) one statement for everything, (B) an insert for what is fresh and a
 * look at the rest, which is what the store does. And the store's gathering beside one statement per caller.
 * Only the ratios mean something on a shared machine. The last line is JSON.
 *
 *     node tests/bench/claim-shapes.mjs [--version 15] [--durable]
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import pg from 'pg';

import { startPostgres } from '../../scripts/setup/postgres.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({ options: { version: { type: 'string' }, durable: { type: 'boolean', default: false } } });
const rounds = 5;
const known = 20_000;

const { createPostgresStore, pgClients } = await load();
const server = await startPostgres({ ...(values.version && { version: values.version }), durable: values.durable });
const client = new pg.Client(server.url);
await client.connect();
const store = createPostgresStore(pgClients({ connectionString: server.url, max: 4 }), { prefix: 'gate' });
await store.prepare();
await client.query('ALTER TABLE gate_claims ADD COLUMN last_verdict text');
for (let n = 0; n < known; n += 1000) await store.claim(asks(1000).map(libraryAsk));
await client.query('ANALYZE gate_claims');

const sql = {
	oneStatement: text(path.join(root, 'tests/bench/claim-shapes/one-statement.sql')),
	fresh: statement('claim_fresh'),
	judge: statement('claim_judge'),
};
const shapes = {
	A: async (batch) => await client.query(sql.oneStatement, [JSON.stringify(batch), batch.length, '2000']),
	B: async (batch) => {
		const { rows } = await client.query(sql.fresh, [JSON.stringify(batch), batch.length, '2000']);
		if (rows.length < batch.length) await client.query(sql.judge, [JSON.stringify(batch), batch.length]);
	},
};

const report = { postgres: server.version, durable: values.durable, shapes: {}, gathering: {} };
for (const size of [1, 32, 128]) {
	const repeats = size === 1 ? 150 : size === 32 ? 40 : 15;
	const duplicates = asks(size);
	await shapes.B(duplicates);
	for (const kind of ['fresh', 'duplicate']) {
		const next = () => (kind === 'fresh' ? asks(size) : duplicates.map((one) => ({ ...one, owner: owner() })));
		const rates = await alternately(shapes, async (shape) => {
			for (let n = 0; n < repeats; n++) await shape(next());
			return repeats * size;
		});
		report.shapes[`${kind} ${size}`] = rates;
		line(`${kind}, batch of ${size}`, rates, 'A', 'B');
	}
}

const pool = new pg.Pool({ connectionString: server.url, max: 10 });
const ways = {
	plain: async (one) => {
		const { rows } = await pool.query(sql.fresh, [JSON.stringify([one]), 1, '2000']);
		if (rows.length === 0) await pool.query(sql.judge, [JSON.stringify([one]), 1]);
	},
	gathered: async (one) => await store.claim([libraryAsk(one)]),
};
for (const callers of [1, 32, 128]) {
	for (const kind of ['fresh', 'duplicate']) {
		const duplicates = asks(callers);
		for (const one of duplicates) await ways.plain(one);
		const each = callers === 1 ? 150 : callers === 32 ? 30 : 12;
		const rates = await alternately(ways, async (claim) => {
			const caller = async (_, at) => {
				for (let n = 0; n < each; n++) await claim(kind === 'fresh' ? asks(1)[0] : { ...duplicates[at], owner: owner() });
			};
			await Promise.all(Array.from({ length: callers }, caller));
			return each * callers;
		});
		report.gathering[`${kind} ${callers}`] = rates;
		line(`${kind}, ${callers} callers`, rates, 'plain', 'gathered');
	}
}

await pool.end();
await store.close();
await client.end();
await server.stop();
console.log(JSON.stringify(report));

/** Claims per second of each way, median of the rounds; taking turns, so that a slow minute hits all alike. */
async function alternately(contenders, run) {
	const rates = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
	for (let round = 0; round < rounds; round++) {
		for (const [name, contender] of Object.entries(contenders)) {
			const began = performance.now();
			const claims = await run(contender);
			rates[name].push((claims / (performance.now() - began)) * 1000);
		}
	}
	return Object.fromEntries(Object.entries(rates).map(([name, all]) => [name, Math.round(all.sort((a, b) => a - b)[rounds >> 1])]));
}

function line(what, rates, one, other) {
	const ratio = (rates[other] / rates[one]).toFixed(2);
	console.log(`${what.padEnd(26)} ${one} ${String(rates[one]).padStart(6)}/s   ${other} ${String(rates[other]).padStart(6)}/s   ${other}/${one} ${ratio}`);
}

function asks(count) {
	const ids = Array.from({ length: count }, () => `evt_${randomBytes(18).toString('base64url')}`).sort();
	return ids.map((event_id, ord) => ({
		...{ ord, scope: 'workflow:AbCdEfGhIjKlMnOp', provider: 'stripe', event_id, event_type: 'invoice.paid' },
		...{ owner: owner(), body_digest: randomBytes(32).toString('hex'), lease_ms: 600_000, max_attempts: 5 },
		...{ on_claim: false, on_hold: false, reject_changed: false, execution_id: '123456', guards: [] },
	}));
}

function libraryAsk({ scope, provider, event_id: eventId, event_type: eventType, owner, body_digest, execution_id: executionId }) {
	return {
		...{ key: { scope, provider, eventId }, eventType, owner, bodyDigest: `sha256:${body_digest}`, executionId },
		...{ leaseMs: 600_000, maxAttempts: 5, unfinished: 'take_over', payloadChanged: 'duplicate', guards: [] },
	};
}

function owner() {
	return randomBytes(16).toString('hex');
}

function statement(name) {
	return text(path.join(root, 'node-package/src/store/postgres/statements', `${name}.sql`));
}

function text(file) {
	return readFileSync(file, 'utf8').replaceAll(/"gate"\."(\w+)"/g, '"public"."gate_$1"').replaceAll(/^\s*--.*\n/gm, '');
}

/** The store is TypeScript, and Node 20 does not read that. */
async function load() {
	const outfile = path.join(root, '.cache', 'bench', 'claim-shapes.mjs');
	const contents = "export * from './node-package/src/store/postgres'; export * from './tests/harness/pg-clients';";
	await build({
		stdin: { contents, resolveDir: root, loader: 'ts' },
		...{ outfile, bundle: true, platform: 'node', format: 'esm', external: ['pg'], logLevel: 'warning' },
	});
	return await import(pathToFileURL(outfile).href);
}
