import { describe, expect, it } from 'vitest';
import { savedHeaders } from '../../node-package/src/savedHeaders';

describe('headers that may be kept', () => {
	it.each([
		...['Content-Type', 'Content-Length', 'User-Agent', 'X-GitHub-Event', 'X-GitHub-Delivery', 'X-Shopify-Topic'],
		...['X-Shopify-Event-Id', 'webhook-id', 'webhook-timestamp', 'X-Forwarded-For', 'X-Author', 'X-Keyboard'],
	])('%s is', (name) => {
		expect(savedHeaders([[name, 'x']], [])).toEqual([[name, 'x']]);
	});

	it.each([
		...['Authorization', 'AUTHORIZATION', 'Proxy-Authorization', 'Cookie', 'Set-Cookie', 'X-Api-Key', 'X-Gitlab-Token'],
		...['Stripe-Signature', 'X-Hub-Signature-256', 'X-Shopify-Hmac-Sha256', 'X-Telegram-Bot-Api-Secret-Token', 'apikey'],
		...['X-AuthToken', 'X-ApiToken', 'AccessToken', 'X-SessionId', 'JSESSIONID', 'X-SecretKey', 'csrftoken', 'X-Otp'],
		...['X-Original-URI', 'X-Forwarded-Url', 'Referer', 'X-JWT'],
		...['X-Auth-Token', 'X-Webhook-Secret', 'X-Session', 'X-Amz-Security-Token', 'Paddle-Signature', 'x-password'],
	])('%s is not', (name) => {
		expect(savedHeaders([[name, 'x']], [])).toEqual([]);
	});

	it('nor is what the provider signs with, whatever its name', () => {
		const headers = [['Linear-Proof', 'x'], ['linear-proof', 'y'], ['Accept', '*/*']] as const;
		expect(savedHeaders(headers, ['LINEAR-PROOF'])).toEqual([['Accept', '*/*']]);
	});
});
