import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPostgres } from '../../scripts/setup/postgres.mjs';
import { flaws } from './flaws';
import { openGround, type PostgresGround } from './ground';
import { firstFault, newTally, report } from './search';
import type { Size } from './schedule';

/**
 * GATE_SCHEDULES=n: so many schedules of each kind. GATE_SEED=n: this one alone, on both.
 * A schedule of the first kind fails again whenever it is run; one of a crowd may need luck.
 */
const schedules = Number(process.env['GATE_SCHEDULES'] ?? 1000);
const only = process.env['GATE_SEED'];
const first = only === undefined ? 1 + Math.floor(Math.random() * 1_000_000_000) : Number(only);
const seeds = Array.from({ length: only === undefined ? schedules : 1 }, (_, n) => first + n);

const stepByStep: Size = { clients: 3, events: 3, moments: 24, crowded: 0 };
const inCrowds: Size = { clients: 5, events: 3, moments: 10, crowded: 60 };

/** The lowest and the highest version; a server that was given is one version, whatever that is. */
const versions = process.env['GATE_TEST_POSTGRES_URL'] ? [undefined] : (['15', '18'] as const);

for (const version of versions) {
	describe(`the reference of a claim's life beside PostgreSQL ${version ?? 'as given'}`, () => {
		let server: Awaited<ReturnType<typeof startPostgres>>;
		const grounds: PostgresGround[] = [];

		beforeAll(async () => {
			server = await startPostgres(version === undefined ? {} : { version });
		});
		afterAll(async () => {
			for (const ground of grounds) await ground.close();
			await server?.stop();
		});

		it.each([
			['step by step', stepByStep],
			['in crowds', inCrowds],
		])('random schedules %s: each answer and each record is what the reference says', async (kind, size) => {
			const ground = await Promise.all(Array.from({ length: 3 }, async () => await openGround(server.url)));
			grounds.push(...ground);
			const tally = newTally();
			const part = versions.length === 1 ? seeds : seeds.filter((_, n) => only !== undefined || n % 2 === (version === '18' ? 0 : 1));
			console.log(`${part.length} schedules ${kind}, from seed ${first}`);
			const found = await firstFault(ground, size, part, tally);
			expect(found && report(found)).toBeNull();
			console.log(`${tally.calls} calls, ${tally.ownerships} ownerships, ${tally.verdicts.size} different answers`);
			if (only === undefined && schedules >= 500) expect(missing(tally.verdicts)).toEqual([]);
		});
	});
}

describe('the test is able to fail', () => {
	let server: Awaited<ReturnType<typeof startPostgres>>;
	beforeAll(async () => {
		server = await startPostgres();
	});
	afterAll(async () => await server?.stop());

	it.each(Object.keys(flaws))('it finds a store that %s', async (name) => {
		const { crowded, between } = flaws[name] as (typeof flaws)[string];
		const ground = await openGround(server.url, between);
		try {
			const found = await firstFault([ground], crowded ? inCrowds : stepByStep, Array.from({ length: 300 }, (_, n) => n + 1), newTally());
			expect(found, 'nothing was found').not.toBeNull();
			if (found) console.log(`${name}\n${report(found)}`);
			expect(found?.shortest.flat().length).toBeLessThanOrEqual(6);
		} finally {
			await ground.close();
		}
	});
});

/** What thousands of schedules have to reach, or they would show less than they seem to. */
function missing(seen: ReadonlyMap<string, number>): string[] {
	const claims = ['claimed', 'reentrant', 'in_progress', 'taken_over', 'retried', 'backoff', 'completed', 'held', 'uncertain', 'exhausted', 'dead', 'payload_mismatch'];
	const settles = ['settled', 'late', 'already', 'fenced_out'];
	const others = ['extend extended', 'extend fenced_out', 'advance advanced', 'advance already_there', 'advance fenced_out'];
	const recoveries = ['taken_over', 'retried', 'held', 'exhausted'];
	const people = ['reopen reopened', 'reopen not_finished', 'resolve resolved', 'resolve already', 'resolve not_uncertain', 'resolve fenced_out'];
	const wanted = [...claims.map((one) => `claim ${one}`), ...settles.map((one) => `settle ${one}`), ...recoveries.map((one) => `recover ${one}`), ...others, ...people];
	return wanted.filter((one) => !seen.has(one));
}
