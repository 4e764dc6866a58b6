/** Why something failed, as it is stored: nothing in it may harm whoever reads it, or whom it is about. */
import { describe, expect, it } from 'vitest';
import { storedReason } from '../../node-package/nodes/IdempotencyGate/reason';

describe('a stored reason', () => {
	it.each([
		['connect postgres://app:hunter2@db:5432/x', 'connect postgres://app:***@db:5432/x'],
		['GET https://user:p4ss@host/ failed', 'GET https://user:***@host/ failed'],
		['401 for Authorization: Bearer eyJhbGciOi.abc-_~', '401 for Authorization: Bearer ***'],
		['Invalid API Key provided: sk_live_4eC39HqLyjWDarjtT1', 'Invalid API Key provided: ***'],
		['bad secret whsec_3c4a9e5f0b7d4d1c', 'bad secret ***'],
		['{"password": "hunter2", "user": "app"}', '{"password": "***", "user": "app"}'],
		['api_key=abc123&order=1', 'api_key=***&order=1'],
		['Incorrect API key provided: sk-proj-4eC39HqLyjWDarjtT1', 'Incorrect API key provided: ***'],
		['glpat-xY3-kLm9_abcdefgh has expired', '*** has expired'],
		['InvalidAccessKeyId AKIAIOSFODNN7EXAMPLE', 'InvalidAccessKeyId ***'],
		['jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3 is malformed', 'jwt *** is malformed'],
		['GET https://x.blob.example/a?sv=1&sig=a%2Fb%3D&se=2 gave 403', 'GET https://x.blob.example/a?sv=1&sig=***&se=2 gave 403'],
		['GET https://files.example/a?sig=abc failed', 'GET https://files.example/a?sig=*** failed'],
		['GET https://files.example/a?e=1&Signature=abc== failed', 'GET https://files.example/a?e=1&Signature=*** failed'],
	])('leaves out what looks like a secret: %s', (text, stored) => {
		expect(storedReason(text)).toBe(stored);
	});

	it.each([
		['The bank did not answer', 'The bank did not answer'],
		['Order 4711: token expired', 'Order 4711: token expired'],
		['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED 127.0.0.1:5432'],
		['https://example.com/a:b@c', 'https://example.com/a:b@c'],
		['The task-force-of-many-people in AsiaPacificRegions said: signature=missing', 'The task-force-of-many-people in AsiaPacificRegions said: signature=missing'],
	])('leaves everything else: %s', (text, stored) => {
		expect(storedReason(text)).toBe(stored);
	});

	it('is one line, which any store can keep', () => {
		expect(storedReason(' first\r\n\tsecond\u0000\ud800third \u2028 ')).toBe('first second third');
		expect(storedReason(' \n ')).toBe('');
	});

	it('has at most 500 characters, and never half of one', () => {
		const stored = storedReason('\u{1F600}'.repeat(600));
		expect([...stored]).toHaveLength(500);
		expect(stored).not.toMatch(/\p{Surrogate}/u);
		expect(stored.endsWith('...')).toBe(true);
		expect(storedReason('x'.repeat(500))).toBe('x'.repeat(500));
	});
});
