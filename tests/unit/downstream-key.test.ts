import { describe, expect, it } from 'vitest';
import { downstreamKey } from '../../node-package/src/downstreamKey';
import { loadCore } from '../../node-package/src/wasm/core';

const key = `n8n-${'0123456789'.repeat(4)}`;

describe('the key of a call downstream', () => {
	it('is what the README says to write in an expression', () => {
		expect(downstreamKey(key, 'charge')).toBe(`${key}-charge`);
	});

	it('takes the key that the core derives', () => {
		const body = Buffer.from('{"id":"evt_1"}');
		const request = { provider: 'stripe', scope: 'workflow:unit', source: { type: 'provider' }, headers: [], nowMs: 0 } as const;
		const derived = loadCore().deriveKey(request, body);
		expect(downstreamKey(derived.type === 'key' ? derived.idempotencyKey : '', 'mail_2')).toMatch(/^n8n-[0-9a-f]{40}-mail_2$/);
	});

	it('stays below the 255 characters that Stripe allows', () => {
		expect(downstreamKey(key, 'a'.repeat(40))).toHaveLength(85);
	});

	it.each(['', 'a'.repeat(41), 'Charge', 'charge card', 'charge\n', 'überweisen', 'a.b', 'a/b'])(
		'the action %j is refused',
		(action) => expect(() => downstreamKey(key, action)).toThrow(RangeError),
	);

	it.each(['', 'undefined', 'evt_1', key.toUpperCase(), `${key}0`, `${key}\n`, key.slice(0, -1)])(
		'%j is not the key of an event',
		(other) => expect(() => downstreamKey(other, 'charge')).toThrow(RangeError),
	);
});
