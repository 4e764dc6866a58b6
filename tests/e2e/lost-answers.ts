import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deliver } from '../../scripts/deliveries/burst.mjs';
import { postgresCredential } from '../../scripts/setup/databases.mjs';
import { lossyProxy, type LossyProxy } from '../node/lossy-proxy';
import type { Published, Stage } from '../harness/stage';
import { passTime, recordOf } from '../harness/tables';
import { freshPath } from '../harness/stage';
import { respond, webhook, workflow, type CredentialRef } from '../harness/workflows';
import { branches } from './answers';
import { ours, publishHandling, stripeEvent } from './handling';

/** What only the statement of one step says. */
const statements = {
	claim: /INSERT INTO "\w+"."n8n_idempotency_claims"/,
	extendLease: /extended AS/,
	advance: /advanced AS/,
	complete: /settled AS/,
	fail: /settled AS/,
	recover: /decided AS/,
} as const;

/** The statement is carried out, and its answer never comes. The store tries once more by itself, then n8n does. */
export function lostAnswers(stage: () => Stage): void {
	describe('the answer of PostgreSQL is lost, and the nodes have Retry On Fail', () => {
		let proxy: LossyProxy;
		let postgres: CredentialRef;
		let whole: Published;
		let failing: Published;
		const node = { retryOnFail: true, waitBetweenTries: 1 };

		beforeAll(async () => {
			const credential = postgresCredential(stage().databaseUrl);
			proxy = await lossyProxy(credential);
			postgres = await stage().n8n.api.createCredential('postgres', 'Postgres that loses answers', { ...credential, port: proxy.port });
			const own = { postgres, node };
			const chain = [
				ours(stage(), 'extendLease', { leaseMinutes: 30 }, own),
				ours(stage(), 'advance', { stages: 'charged, shipped', stage: 'charged' }, own),
				ours(stage(), 'complete', {}, own),
			];
			whole = await publishHandling(stage(), { ...own, chain });
			failing = await publishHandling(stage(), { ...own, chain: [ours(stage(), 'fail', { reason: 'the shop is closed' }, own)] });
		});
		afterAll(() => proxy?.close());
		afterEach(() => proxy.heal());

		it.each(['claim', 'extendLease', 'advance', 'complete'] as const)('of %s: one attempt, completed once', async (step) => {
			for (const times of [1, 2]) {
				const id = `evt_lost_${step}_${times}`;
				const before = proxy.lost;
				proxy.lose(statements[step], times);
				const answer = await deliver(whole.url, stripeEvent(id));
				expect(proxy.lost - before, 'answers lost').toBe(times);
				expect(branches([answer]), answer.text).toEqual({ claimed: 1 });
				expect(await recordOf(stage().database, id)).toMatchObject({ state: 'c', attempt: 1, stage: 'charged' });
				const again = await deliver(whole.url, stripeEvent(id));
				expect(branches([again]), again.text).toEqual({ duplicate: 1 });
			}
		});

		it('of fail: one failure', async () => {
			proxy.lose(statements.fail, 2);
			const answer = await deliver(failing.url, stripeEvent('evt_lost_fail'));
			expect(proxy.lost).toBeGreaterThan(0);
			expect(branches([answer]), answer.text).toEqual({ claimed: 1 });
			expect(await recordOf(stage().database, 'evt_lost_fail')).toMatchObject({ state: 'f', attempt: 1, error: 'the shop is closed' });
		});

		it('of recover: what was taken over is handed out again after its lease, and completed once', async () => {
			const abandoned = await publishHandling(stage(), { chain: [ours(stage(), 'extendLease')] });
			await deliver(abandoned.url, stripeEvent('evt_lost_recover'));
			await passTime(stage().database, 'evt_lost_recover');
			const recovering = await publishRecovering(stage(), postgres, abandoned.id);

			proxy.lose(statements.recover, 1);
			const lost = await deliver(recovering.url, stripeEvent('evt_tick'));
			expect(branches([lost]), lost.text).toEqual({ none: 1 });
			expect(await recordOf(stage().database, 'evt_lost_recover')).toMatchObject({ state: 'p', attempt: 2 });

			await passTime(stage().database, 'evt_lost_recover');
			const found = await deliver(recovering.url, stripeEvent('evt_tick'));
			expect(branches([found]), found.text).toEqual({ recovered: 1 });
			expect(found.json).toMatchObject({ idempotency: { outcome: 'completed' } });
			expect(await recordOf(stage().database, 'evt_lost_recover')).toMatchObject({ state: 'c', attempt: 3 });
		});

		/** Recovers when its webhook is called. */
		async function publishRecovering({ publish }: Stage, credential: CredentialRef, workflowId: string): Promise<Published> {
			const path = freshPath('recovering');
			const own = { postgres: credential, node };
			const recover = ours(stage(), 'recover', { resource: 'store', options: { scope: 'workflow', workflowId } }, own);
			const nodes = [webhook(path, { rawBody: true }), recover, ours(stage(), 'complete', {}, own), respond('Recovered')];
			return await publish(workflow(`Recovering ${path}`, nodes, [['Webhook', 'recover'], ['recover', 'complete'], ['complete', 'Recovered']]));
		}
	});
}
