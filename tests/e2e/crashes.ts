import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliver } from '../../scripts/deliveries/burst.mjs';
import { startPayments, type Payments } from '../harness/payments';
import type { Published, Stage } from '../harness/stage';
import { passTime, recordOf } from '../harness/tables';
import { branches } from './answers';
import { deliverInVain, look, publishHandling, publishRecovery, stripeEvent } from './handling';

/** What the workflow was at when n8n was killed, and what the payment service does with a repetition. */
const cases = {
	claimed: { path: '/keyed/claimed', when: 'before' },
	'claimed-2': { path: '/keyed/claimed-2', when: 'before' },
	charged: { path: '/keyed/charged', when: 'after' },
	'charged-2': { path: '/charged-2', when: 'after' },
} as const;
type Case = keyof typeof cases;
const names = Object.keys(cases) as Case[];

/** All at once: one n8n, killed while each of four workflows was at its own point, and started again. */
export function crashes(stage: () => Stage): void {
	describe('n8n is killed (kill -9) while it handles events', () => {
		let payments: Payments;
		const workflows = new Map<Case, Published>();
		let recovery: Published;
		const urlOf = (name: Case): string => workflows.get(name)!.url;
		const idOf = (name: Case): string => `evt_crash_${name}`;
		const effects = (name: Case) => payments.effects.filter(({ path }) => path === cases[name].path);
		const calls = (name: Case) => payments.calls.filter(({ path }) => path === cases[name].path);

		beforeAll(async () => {
			payments = await startPayments();
			for (const name of names) {
				const options = name === 'charged-2' ? { unfinishedEvents: 'hold' } : {};
				workflows.set(name, await publishHandling(stage(), { chargeUrl: payments.url + cases[name].path, options }));
			}
			recovery = await publishRecovery(stage(), workflows.get('claimed-2')!.id, payments.url + cases['claimed-2'].path);

			const answers: Array<ReturnType<typeof deliverInVain>> = [];
			for (const name of names) {
				const arrived = payments.hold(cases[name].path, cases[name].when);
				answers.push(deliverInVain(urlOf(name), idOf(name)));
				await arrived;
			}
			await stage().n8n.crash();
			expect(new Set(await Promise.all(answers))).toEqual(new Set(['lost']));
			for (const name of names) {
				expect(await recordOf(stage().database, idOf(name))).toMatchObject({ state: 'p', attempt: 1 });
				await passTime(stage().database, idOf(name));
			}
			await stage().n8n.resume();
			for (const { id } of workflows.values()) await stage().n8n.api.live(id);
		});
		afterAll(() => payments?.close());

		it('right after the claim: the next delivery has the event handled, and the one after that is a duplicate', async () => {
			expect(effects('claimed')).toHaveLength(0);
			const [again, once] = [await deliver(urlOf('claimed'), stripeEvent(idOf('claimed'))), await deliver(urlOf('claimed'), stripeEvent(idOf('claimed')))];
			expect([branches([again]), branches([once])]).toEqual([{ claimed: 1 }, { duplicate: 1 }]);
			expect(again.json, again.text).toMatchObject({ idempotency: { outcome: 'completed' } });
			expect([calls('claimed').length, effects('claimed').length]).toEqual([2, 1]);
			expect(await recordOf(stage().database, idOf('claimed'))).toMatchObject({ state: 'c', attempt: 2 });
		});

		it('right after the claim: the recovery trigger hands the event out once, without another delivery', async () => {
			const record = async () => (await recordOf(stage().database, idOf('claimed-2')))?.state;
			await expect.poll(record, { timeout: 90_000 }).toBe('c');
			expect(await recordOf(stage().database, idOf('claimed-2'))).toMatchObject({ attempt: 2 });
			expect([calls('claimed-2').length, effects('claimed-2').length]).toEqual([2, 1]);
			await look(stage(), recovery.id);
			const late = await deliver(urlOf('claimed-2'), stripeEvent(idOf('claimed-2')));
			expect(branches([late]), late.text).toEqual({ duplicate: 1 });
			expect(await stage().n8n.api.executions(recovery.id)).toHaveLength(1);
			expect(effects('claimed-2')).toHaveLength(1);
		});

		it('after the charge and before Complete, and the payment service honours Idempotency-Key: one charge', async () => {
			expect(effects('charged')).toHaveLength(1);
			const again = await deliver(urlOf('charged'), stripeEvent(idOf('charged')));
			expect(branches([again]), again.text).toEqual({ claimed: 1 });
			expect(calls('charged').map(({ key }) => key)).toEqual([expect.stringMatching(/^n8n-[0-9a-f]{40}-charge$/), calls('charged')[0]!.key]);
			expect(effects('charged')).toHaveLength(1);
			expect(await recordOf(stage().database, idOf('charged'))).toMatchObject({ state: 'c', attempt: 2 });
		});

		it('the same, and it does not know such keys: held for a person, one charge', async () => {
			const again = await deliver(urlOf('charged-2'), stripeEvent(idOf('charged-2')));
			expect(branches([again]), again.text).toEqual({ duplicate: 1 });
			expect(again.json).toMatchObject({ claimed: false, idempotency: { outcome: 'held', status: 'uncertain', needsAttention: true } });
			const later = await deliver(urlOf('charged-2'), stripeEvent(idOf('charged-2')));
			expect(later.json).toMatchObject({ claimed: false, idempotency: { outcome: 'uncertain', needsAttention: true } });
			expect([calls('charged-2').length, effects('charged-2').length]).toEqual([1, 1]);
			expect(await recordOf(stage().database, idOf('charged-2'))).toMatchObject({ state: 'u', attempt: 1 });
		});
	});
}
