import { describe, expect, it } from 'vitest';
import { burst } from '../../scripts/deliveries/burst.mjs';
import { senders } from '../../scripts/deliveries/senders.mjs';
import type { Stage } from '../harness/stage';
import { claimsOf } from '../harness/tables';
import { branches } from './answers';
import { publishGate, signedProviders } from './gates';

const TIMES = 50;

export function simultaneousDeliveries(stage: () => Stage): void {
	describe(`${TIMES} simultaneous deliveries of one valid event`, () => {
		it.each(signedProviders)('%s: one Claimed, all others Duplicate, one row', async (provider) => {
			const gate = await publishGate(stage(), { provider });
			const id = `evt_storm_${provider}`;
			const answers = await burst(gate.url, Array<ReturnType<typeof deliveryOf>>(TIMES).fill(deliveryOf(provider, id)));
			expect(branches(answers)).toEqual({ claimed: 1, duplicate: TIMES - 1 });
			expect(answers.map(({ json }) => json.claimed).filter(Boolean)).toEqual([true]);
			expect(await claimsOf(stage().database, id)).toBe(1);
		});
	});
}

const deliveryOf = (provider: (typeof signedProviders)[number], id: string) => senders[provider].request({ id });
