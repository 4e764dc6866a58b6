import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliver } from '../../scripts/deliveries/burst.mjs';
import { startPayments, type Payments } from '../harness/payments';
import type { Published, Stage } from '../harness/stage';
import { passTime, recordOf } from '../harness/tables';
import { branches } from './answers';
import { look, publishHandling, publishRecovery, stripeEvent } from './handling';
import { publishTemplate } from './published-templates';

/** An execution fails, and then somebody presses Retry, or an error workflow and the recovery see to it, or all of them. */
export function retriedExecutions(stage: () => Stage): void {
	describe('a failed execution', () => {
		let payments: Payments;
		let errorWorkflow: string;
		beforeAll(async () => {
			payments = await startPayments();
			errorWorkflow = (await publishTemplate(stage(), 'error-workflow')).id;
		});
		afterAll(() => payments?.close());

		/** A workflow whose first execution has failed at the charge. */
		async function failed(name: string, settings: Record<string, unknown> = {}): Promise<Published & { eventId: string; execution: string; chargeUrl: string }> {
			const chargeUrl = `${payments.url}/keyed/${name}`;
			const published = await publishHandling(stage(), { chargeUrl, settings });
			const eventId = `evt_${name}`;
			payments.refuse(`/keyed/${name}`);
			expect((await deliver(published.url, stripeEvent(eventId))).status).toBe(500);
			await expect.poll(async () => (await stage().n8n.api.executions(published.id))[0]?.status, { timeout: 20_000 }).toBe('error');
			const [execution] = await stage().n8n.api.executions(published.id);
			return { ...published, eventId, execution: execution.id, chargeUrl };
		}

		const record = async (eventId: string) => await recordOf(stage().database, eventId);
		const stateBecomes = async (eventId: string, state: string) => {
			await expect.poll(async () => (await record(eventId))?.state, { timeout: 90_000 }).toBe(state);
		};
		const charges = (name: string) => payments.effects.filter(({ path }) => path === `/keyed/${name}`).length;

		async function expectDone({ url, eventId }: { url: string; eventId: string }, attempt: number): Promise<void> {
			expect(await record(eventId)).toMatchObject({ state: 'c', attempt });
			const again = await deliver(url, stripeEvent(eventId));
			expect(branches([again]), again.text).toEqual({ duplicate: 1 });
			expect(again.json).toMatchObject({ idempotency: { outcome: 'completed' } });
			expect(charges(eventId.replace('evt_', ''))).toBe(1);
		}

		it('Retry in n8n goes on behind the gate and completes the claim', async () => {
			const work = await failed('retried');
			expect(await record(work.eventId)).toMatchObject({ state: 'p', attempt: 1 });
			await stage().n8n.api.retry(work.execution);
			await expectDone(work, 1);
		});

		it('the error workflow marks the event as failed, and Retry completes it all the same', async () => {
			const work = await failed('failed-and-retried', { errorWorkflow });
			await stateBecomes(work.eventId, 'f');
			expect((await record(work.eventId))?.error).toContain('Service unavailable');
			await stage().n8n.api.retry(work.execution);
			await expectDone(work, 1);
		});

		it('the error workflow marks the event as failed, and the recovery trigger has it completed when it is due', async () => {
			const work = await failed('failed-and-recovered', { errorWorkflow });
			await stateBecomes(work.eventId, 'f');
			const recovery = await publishRecovery(stage(), work.id, work.chargeUrl);
			expect(await record(work.eventId), 'not due yet').toMatchObject({ state: 'f', attempt: 1 });
			await passTime(stage().database, work.eventId);
			await look(stage(), recovery.id);
			await stateBecomes(work.eventId, 'c');
			await expectDone(work, 2);
		});

		it('somebody else has completed the event before Retry: the retried execution is told so, loudly', async () => {
			const work = await failed('completed-before-retry', { errorWorkflow });
			await stateBecomes(work.eventId, 'f');
			await passTime(stage().database, work.eventId);
			const taken = await deliver(work.url, stripeEvent(work.eventId));
			expect(branches([taken]), taken.text).toEqual({ claimed: 1 });
			await stage().n8n.api.retry(work.execution);
			const retried = (await stage().n8n.api.executions(work.id)).find(({ retryOf }: { retryOf?: string }) => String(retryOf) === work.execution);
			expect(retried).toMatchObject({ status: 'error' });
			const { data } = await stage().n8n.api.execution(retried.id);
			expect(data.resultData.error.message).toContain('no longer held by this execution');
			await expectDone(work, 2);
		});
	});
}
