import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliver } from '../../scripts/deliveries/burst.mjs';
import { stripe } from '../../scripts/deliveries/senders.mjs';
import { startPayments, type Payments } from '../harness/payments';
import type { Published, Stage } from '../harness/stage';
import { passTime, recordOf } from '../harness/tables';
import { look, ours, publishHandling, stripeEvent } from './handling';
import { publishTemplate } from './published-templates';

const newId = () => `evt_${randomUUID()}`;

/** The templates for what comes after the claim. What has a payment service in it gets one that it may call. */
export function lifecycleTemplates(stage: () => Stage): void {
	describe('templates for the life of a claim', () => {
		let payments: Payments;
		beforeAll(async () => {
			payments = await startPayments();
		});
		afterAll(() => payments?.close());

		const record = async (eventId: string) => await recordOf(stage().database, eventId);
		const stateBecomes = async (eventId: string, state: string) => {
			await expect.poll(async () => (await record(eventId))?.state, { timeout: 60_000 }).toBe(state);
		};
		/** A server of its own for one test, by the path before the template's. */
		const api = (name: string) => `${payments.url}/keyed/${name}`;
		const effects = (name: string, what: string) => payments.effects.filter(({ path }) => path === `/keyed/${name}/${what}`);

		/** An event that was claimed, and whose execution went no further. */
		async function abandoned(options: Record<string, unknown> = {}): Promise<Published & { eventId: string }> {
			const published = await publishHandling(stage(), { options, chain: [ours(stage(), 'extendLease')] });
			const eventId = newId();
			await deliver(published.url, stripeEvent(eventId));
			await passTime(stage().database, eventId);
			return { ...published, eventId };
		}

		it('stripe-respond: each state of the event has its answer', async () => {
			const { url } = await publishTemplate(stage(), 'stripe-respond');
			const request = stripe.request({ id: newId(), object: 'pi_42' });
			const eventId = JSON.parse(request.body.toString()).id as string;
			const set = async (assignments: string) => await stage().database.query(`UPDATE n8n_idempotency_claims SET ${assignments} WHERE event_id = $1`, [eventId]);

			expect(await deliver(url, request)).toMatchObject({ status: 200, json: { received: true, duplicate: false } });
			expect(await deliver(url, request)).toMatchObject({ status: 200, json: { duplicate: true, result: { order: 'pi_42' } } });

			await set("state = 'p', completed_at = NULL, lease_until = clock_timestamp() + interval '1 minute'");
			const busy = await deliver(url, request);
			expect(busy, busy.text).toMatchObject({ status: 409, json: { received: false, reason: 'in_progress' } });
			expect(Number(busy.headers['retry-after'])).toBeGreaterThan(0);

			await set("state = 'd', lease_until = NULL");
			expect(await deliver(url, request)).toMatchObject({ status: 200, json: { received: true } });
			expect((await deliver(url, { ...request, body: Buffer.from('{"id":"evt_forged"}') })).status).toBe(401);
		});

		it('recovery: an interrupted event is charged and completed', async () => {
			const { id, eventId } = await abandoned();
			await publishTemplate(stage(), 'recovery', { api: api('recovery'), recovers: id });
			await stateBecomes(eventId, 'c');
			expect(await record(eventId)).toMatchObject({ attempt: 2 });
			expect(effects('recovery', 'charges')).toMatchObject([{ key: expect.stringMatching(/^n8n-\w+-charge$/), body: { amount: 4200, currency: 'eur' } }]);
		});

		it('recovery: a charge that is refused makes the event a failed one', async () => {
			const { id, eventId } = await abandoned();
			payments.refuse('/keyed/refused/charges');
			await publishTemplate(stage(), 'recovery', { api: api('refused'), recovers: id });
			await stateBecomes(eventId, 'f');
			expect((await record(eventId))?.error).toContain('503');
			expect(effects('refused', 'charges')).toEqual([]);
		});

		it('recovery-schedule: the same, and what cannot be recovered goes to Out of Attempts', async () => {
			const { id, eventId } = await abandoned();
			const everySecond = { rule: { interval: [{ field: 'seconds', secondsInterval: 1 }] } };
			const { id: recovery } = await publishTemplate(stage(), 'recovery-schedule', {
				api: api('schedule'),
				recovers: id,
				change: (node) => (node.type === 'n8n-nodes-base.scheduleTrigger' ? { ...node, parameters: everySecond } : node),
			});
			await stateBecomes(eventId, 'c');
			expect(effects('schedule', 'charges')).toHaveLength(1);
			await stage().database.query("UPDATE n8n_idempotency_claims SET state = 'p', attempt = 5, completed_at = NULL, lease_until = clock_timestamp() WHERE event_id = $1", [eventId]);
			await stateBecomes(eventId, 'd');
			await stage().n8n.api.deactivate(recovery);
			expect(effects('schedule', 'charges')).toHaveLength(1);
		});

		it('outbox: the message is stored with the claim and sent once, also where the receiver was away at first', async () => {
			const { id, url } = await publishTemplate(stage(), 'outbox', { api: api('outbox') });
			const request = stripe.request({ id: newId(), object: 'pi_43' });
			expect(await deliver(url, request)).toMatchObject({ status: 200, json: { duplicate: false } });
			expect(await deliver(url, request)).toMatchObject({ status: 200, json: { duplicate: true } });
			const message = async () => {
				const { rows } = await stage().database.query('SELECT state, attempt, error FROM n8n_idempotency_outbox WHERE scope = $1', [`workflow:${id}`]);
				return rows as unknown[];
			};
			expect(await message()).toEqual([{ state: 'p', attempt: 0, error: null }]);

			payments.refuse('/keyed/outbox/receipts');
			await look(stage(), id);
			await expect.poll(message, { timeout: 20_000 }).toEqual([{ state: 'p', attempt: 1, error: expect.stringContaining('503') }]);
			await stage().database.query('UPDATE n8n_idempotency_outbox SET available_at = clock_timestamp() WHERE scope = $1', [`workflow:${id}`]);
			await look(stage(), id);
			await expect.poll(message, { timeout: 20_000 }).toEqual([{ state: 's', attempt: 2, error: null }]);
			expect(effects('outbox', 'receipts')).toMatchObject([{ key: expect.stringMatching(/^n8n-[0-9a-f]{40}-receipt$/), body: { payment: 'pi_43', amount: 4200 } }]);
		});

		it('retry-safe-charge: after a failure between the steps, what is done is passed over', async () => {
			const { url } = await publishTemplate(stage(), 'retry-safe-charge', { api: api('steps') });
			const whole = newId();
			expect(await deliver(url, stripeEvent(whole))).toMatchObject({ status: 200, json: { duplicate: false } });
			expect(await record(whole)).toMatchObject({ state: 'c', attempt: 1, stage: 'shipped' });
			expect(await deliver(url, stripeEvent(whole))).toMatchObject({ status: 200, json: { duplicate: true } });

			const broken = newId();
			payments.refuse('/keyed/steps/shipments');
			expect((await deliver(url, stripeEvent(broken))).status).toBe(500);
			expect(await record(broken)).toMatchObject({ state: 'p', stage: 'charged' });
			await passTime(stage().database, broken);
			expect(await deliver(url, stripeEvent(broken))).toMatchObject({ status: 200, json: { duplicate: false } });
			expect(await record(broken)).toMatchObject({ state: 'c', attempt: 2, stage: 'shipped' });

			const calls = (what: string) => payments.calls.filter(({ path }) => path === `/keyed/steps/${what}`);
			expect([calls('charges').length, calls('shipments').length]).toEqual([2, 3]);
			expect([effects('steps', 'charges').length, effects('steps', 'shipments').length]).toEqual([2, 2]);
			expect(new Set(calls('charges').map(({ key }) => key)).size, 'a key for each event').toBe(2);
		});

		it('dead-letters: tells of each event once', async () => {
			const { id, eventId } = await abandoned({ maxAttempts: 1 });
			const { id: letters } = await publishTemplate(stage(), 'dead-letters', { api: api('letters'), recovers: id });
			await publishTemplate(stage(), 'recovery', { api: api('none'), recovers: id });
			await stateBecomes(eventId, 'd');
			const told = () => payments.effects.filter(({ path }) => path === '/keyed/letters/hooks/alerts');
			await look(stage(), letters);
			await expect.poll(told, { timeout: 20_000 }).toMatchObject([{ body: { text: expect.stringContaining(`stripe event ${eventId} is dead`) } }]);
			await look(stage(), letters);
			expect(await stage().n8n.api.executions(letters)).toHaveLength(1);
		});
	});
}
