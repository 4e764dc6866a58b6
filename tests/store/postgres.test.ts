import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cannotRun, storeLaws } from '../../node-package/src/testing/store-laws';
import { startPostgres } from '../../scripts/setup/postgres.mjs';
import { openPostgresWorld, type PostgresWorld } from './postgres-world';

/** The lowest and the highest version; a server that was given is one version, whatever that is. */
const versions = process.env['GATE_TEST_POSTGRES_URL'] ? [undefined] : (['15', '18'] as const);

for (const version of versions) {
	describe(`the store laws on PostgreSQL ${version ?? 'as given'}`, () => {
		let server: Awaited<ReturnType<typeof startPostgres>>;
		let world: PostgresWorld;

		beforeAll(async () => {
			server = await startPostgres(version === undefined ? {} : { version });
			world = await openPostgresWorld(server.url);
		});
		afterAll(async () => {
			await world?.close();
			await server?.stop();
		});

		for (const law of storeLaws) {
			it(`${law.name} [${law.hazard}]`, async () => {
				expect(cannotRun(law, world)).toBeNull();
				try {
					await law.run(world);
				} finally {
					await world.tidy();
				}
			});
		}

		it('all these races met no deadlock: every statement locks in the same order', async () => {
			expect(await world.deadlocks()).toBe(0);
		});
	});
}
