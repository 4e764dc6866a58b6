import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeReceipt, encodeReceipt, type Receipt } from '../../node-package/src/receipt';

const receipt: Receipt = {
	key: { scope: 'workflow:Ab3', provider: 'stripe', eventId: 'evt_1' },
	owner: '00112233445566778899aabbccddeeff',
	fence: '42',
};

const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 });
const field = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 });
const receipts = fc.record({
	key: fc.record({ scope: field, provider: field, eventId: field }),
	owner: hex,
	fence: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String),
});

describe('a receipt', () => {
	it('comes back as it was, as one word', () => {
		fc.assert(
			fc.property(receipts, (any) => {
				const text = encodeReceipt(any);
				expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
				expect(decodeReceipt(text)).toEqual(any);
			}),
		);
	});

	it('has one form, which items in the field may hold', () => {
		expect(encodeReceipt(receipt)).toBe(
			'WzEsIndvcmtmbG93OkFiMyIsInN0cmlwZSIsImV2dF8xIiwiMDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmYiLCI0MiJd',
		);
	});

	it('fits the longest fields a store takes', () => {
		const longest = '\u0001'.repeat(512);
		const large = { ...receipt, key: { scope: longest, provider: 'stripe', eventId: longest } };
		expect(decodeReceipt(encodeReceipt(large))).toEqual(large);
	});

	it('keeps fields apart', () => {
		const a = encodeReceipt({ ...receipt, key: { scope: 'ab', provider: 'c', eventId: 'd' } });
		const b = encodeReceipt({ ...receipt, key: { scope: 'a', provider: 'bc', eventId: 'd' } });
		expect(a).not.toBe(b);
	});

	it('with one character changed, dropped or added is none, or says so by its content', () => {
		const text = encodeReceipt(receipt);
		for (let at = 0; at < text.length; at++) {
			expect(decodeReceipt(text.slice(0, at) + text.slice(at + 1))).not.toEqual(receipt);
			expect(decodeReceipt(`${text.slice(0, at)} ${text.slice(at)}`)).toBeNull();
			expect(decodeReceipt(`${text.slice(0, at)}=${text.slice(at)}`)).toBeNull();
			const other = text[at] === 'A' ? 'B' : 'A';
			expect(decodeReceipt(text.slice(0, at) + other + text.slice(at + 1))).not.toEqual(receipt);
		}
	});

	const { scope, provider, eventId } = receipt.key;
	it.each<[string, unknown]>([
		['nothing', ''],
		['an object', { scope, provider, eventId }],
		['another version', [2, scope, provider, eventId, receipt.owner, '42']],
		['a field too many', [1, scope, provider, eventId, receipt.owner, '42', 'x']],
		['a field too few', [1, scope, provider, eventId, receipt.owner]],
		['an empty event id', [1, scope, provider, '', receipt.owner, '42']],
		['a number for the fence', [1, scope, provider, eventId, receipt.owner, 42]],
		['a fence of 0', [1, scope, provider, eventId, receipt.owner, '0']],
		['a fence with a leading zero', [1, scope, provider, eventId, receipt.owner, '042']],
		['a fence beyond 64 bits', [1, scope, provider, eventId, receipt.owner, '9223372036854775808']],
		['an owner in capitals', [1, scope, provider, eventId, receipt.owner.toUpperCase(), '42']],
		['a short owner', [1, scope, provider, eventId, 'abc', '42']],
	])('%s is none', (_, fields) => {
		expect(decodeReceipt(Buffer.from(JSON.stringify(fields)).toString('base64url'))).toBeNull();
	});

	it('written in another way is none', () => {
		const spaced = JSON.stringify([1, scope, provider, eventId, receipt.owner, '42'], null, 1);
		expect(decodeReceipt(Buffer.from(spaced).toString('base64url'))).toBeNull();
		expect(decodeReceipt('not a receipt')).toBeNull();
		expect(decodeReceipt('A'.repeat(1_000_000))).toBeNull();
	});
});
