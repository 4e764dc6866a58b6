/**
 * Webhook senders, written from the providers' documentation with node:crypto alone: they share no code with the gate, so
 * a mistake on one side shows.
 */
import { createHmac, randomUUID } from 'node:crypto';

/**
 * @typedef {object} Event
 * @property {string} [id]      a fresh one by default
 * @property {string} [type]
 * @property {string} [object]  id of the thing that the event is about
 *
 * @typedef {object} Request
 * @property {Record<string, string>} headers
 * @property {Buffer} body
 *
 * @typedef {object} Signing
 * @property {string} [secret]  the sender's own by default
 * @property {number} [at]      ms since the epoch; now by default
 *
 * @typedef {object} Sender
 * @property {string} secret  as a person would paste it
 * @property {(event?: Event, signing?: Signing) => Request} request  a signed delivery of an event, as the provider sends it
 */

const digest = (key, parts, encoding, algorithm = 'sha256') => {
	const mac = createHmac(algorithm, key);
	for (const part of parts) mac.update(part);
	return mac.digest(encoding);
};

const seconds = (ms) => String(Math.floor(ms / 1000));
const bytes = (value) => Buffer.from(JSON.stringify(value));

/** @type {Sender} */
export const stripe = {
	secret: 'whsec_3c4a9e5f0b7d4d1c9f2e8a6b5c7d9e1f',
	request({ id = `evt_${randomUUID()}`, type = 'payment_intent.succeeded', object = 'pi_1' } = {}, signing = {}) {
		const body = bytes({
			id,
			object: 'event',
			api_version: '2025-03-31.basil',
			created: 1_760_000_000,
			type,
			livemode: false,
			pending_webhooks: 1,
			data: { object: { id: object, object: 'payment_intent', amount: 4200, currency: 'eur', status: 'succeeded' } },
		});
		return { headers: json(signStripe(body, { secret: this.secret, ...signing })), body };
	},
};

/** Stripe's header over any bytes. */
export function signStripe(body, { secret = stripe.secret, at = Date.now() } = {}) {
	const t = seconds(at);
	return { 'stripe-signature': `t=${t},v1=${digest(secret, [t, '.', body], 'hex')}` };
}

/** @type {Sender} */
export const shopify = {
	secret: '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',
	request({ id = randomUUID(), type = 'orders/paid', object = '820982911946154508' } = {}, { secret = this.secret } = {}) {
		// The id has more digits than a JavaScript number keeps, as Shopify's have; it is written as text on purpose.
		const body = Buffer.from(`{"id":${object},"email":"jon@example.com","total_price":"403.00","currency":"USD","financial_status":"paid"}`);
		const headers = {
			'x-shopify-topic': type,
			'x-shopify-shop-domain': 'example.myshopify.com',
			// One event is delivered to every subscription; what keeps its value over the retries of one is the webhook id.
			'x-shopify-event-id': randomUUID(),
			'x-shopify-webhook-id': id,
			'x-shopify-hmac-sha256': digest(secret, [body], 'base64'),
		};
		return { headers: json(headers), body };
	},
};

/** @type {Sender} */
export const razorpay = {
	secret: 'rzp-webhook-secret-for-tests',
	request({ id = randomUUID(), type = 'payment.captured', object = 'pay_DESlfW9H8K9uqM' } = {}, { secret = this.secret } = {}) {
		const body = bytes({
			entity: 'event',
			account_id: 'acc_BFQ7uQEaa7j2z7',
			event: type,
			contains: ['payment'],
			payload: { payment: { entity: { id: object, entity: 'payment', amount: 100, currency: 'INR', status: 'captured' } } },
			created_at: 1_760_000_000,
		});
		const headers = { 'x-razorpay-event-id': id, 'x-razorpay-signature': digest(secret, [body], 'hex') };
		return { headers: json(headers), body };
	},
};

/** @type {Sender} */
export const paddle = {
	secret: 'pdl_ntfset_01gkpjp8bkm3tm53kdgkx6sms7_tests',
	request({ id = `evt_${randomUUID()}`, type = 'transaction.completed', object = 'txn_01' } = {}, { secret = this.secret, at = Date.now() } = {}) {
		const body = bytes({
			event_id: id,
			event_type: type,
			occurred_at: '2026-01-15T10:18:49.621022Z',
			notification_id: 'ntf_01ghbkd0frb9k95cnhwd1bxpvk',
			data: { id: object, status: 'completed', currency_code: 'USD' },
		});
		const ts = seconds(at);
		return { headers: json({ 'paddle-signature': `ts=${ts};h1=${digest(secret, [ts, ':', body], 'hex')}` }), body };
	},
};

/** @type {Sender} */
export const github = {
	secret: "It's a Secret to Everybody",
	request({ id = randomUUID(), type = 'issues', object = '1' } = {}, { secret = this.secret } = {}) {
		const body = bytes({ action: 'opened', issue: { number: 1347, id: object }, repository: { full_name: 'octocat/Hello-World' } });
		const headers = {
			'x-github-event': type,
			'x-github-delivery': id,
			'x-hub-signature-256': `sha256=${digest(secret, [body], 'hex')}`,
		};
		return { headers: json(headers), body };
	},
};

/** @type {Sender & { sign(body: Buffer, signing?: Signing): Request }} */
export const slack = {
	secret: '8f742231b10e8888abcd99yyyzzz85a5',
	request({ id = `Ev${randomUUID()}`, type = 'message', object = 'C061EG9SL' } = {}, { secret = this.secret, at = Date.now() } = {}) {
		const body = bytes({ type: 'event_callback', team_id: 'T061EG9R6', event_id: id, event_time: 1_760_000_000, event: { type, channel: object } });
		return this.sign(body, { secret, at });
	},
	/** Any body, signed: Slack also sends requests that are no events. */
	sign(body, { secret = this.secret, at = Date.now() } = {}) {
		const ts = seconds(at);
		const headers = { 'x-slack-request-timestamp': ts, 'x-slack-signature': `v0=${digest(secret, ['v0:', ts, ':', body], 'hex')}` };
		return { headers: json(headers), body };
	},
};

/** @type {Sender} */
export const standardWebhooks = {
	secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
	request({ id = `msg_${randomUUID()}`, type = 'invoice.paid', object = 'in_1' } = {}, { secret = this.secret, at = Date.now() } = {}) {
		const body = bytes({ type, timestamp: '2026-01-15T10:18:49Z', data: { id: object } });
		const ts = seconds(at);
		const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
		const headers = {
			'webhook-id': id,
			'webhook-timestamp': ts,
			'webhook-signature': `v1,${digest(key, [id, '.', ts, '.', body], 'base64')}`,
		};
		return { headers: json(headers), body };
	},
};

/** A home-made scheme: SHA-512 in hex with a prefix, over the body alone; the id is in the body. @type {Sender} */
export const custom = {
	secret: 'a-secret-that-both-sides-know',
	request({ id = `order-${randomUUID()}`, type = 'order.created', object = '17' } = {}, { secret = this.secret } = {}) {
		const body = bytes({ reference: id, type, order: { number: object } });
		return { headers: json({ 'x-shop-signature': `sha512=${digest(secret, [body], 'hex', 'sha512')}` }), body };
	},
};

/** Not signed at all; any body. */
export const unsigned = (body) => ({ headers: json({}), body: Buffer.from(body) });

const json = (headers) => ({ 'content-type': 'application/json', 'user-agent': 'gate-tests/1', ...headers });

/** By key of the gate's provider table. */
export const senders = { stripe, shopify, razorpay, paddle, github, slack, standard_webhooks: standardWebhooks, custom };
