/** Signed requests: verdict, and on valid ones the event's id and type. */
import { createHash } from 'node:crypto';

/** The schemes that users describe themselves, by the name that the vectors give them. */
const CUSTOM = {
	generic_hmac_sha256_hex: {
		signatureHeader: 'Signature',
		algorithm: 'sha256',
		encoding: 'hex',
		prefix: 'sha256 ',
		timestampHeader: null,
		timestampUnit: 's',
		idHeader: null,
		template: '{body}',
		secretEncoding: 'utf8',
	},
};

/** For vectors without a time: their schemes sign none. */
const SOME_TIME = 1_760_000_000;

export function signatureCases(core, vectors) {
	const known = new Set([...core.providers().map(({ key }) => key), ...Object.keys(CUSTOM)]);
	return vectors.map((vector) =>
		known.has(vector.provider)
			? { name: `${vector.provider}/${vector.name}`, run: () => run(core, vector) }
			: { unsupported: vector.provider },
	);
}

function run(core, vector) {
	const custom = CUSTOM[vector.provider];
	const request = {
		...(custom ? { provider: 'custom', custom } : { provider: vector.provider }),
		headers: Object.entries(vector.headers).flatMap(([name, value]) => [value].flat().map((line) => [name, line])),
		nowMs: (vector.now_unix ?? SOME_TIME) * 1000,
	};
	const body = bodyOf(vector);
	const secrets = vector.secrets.map((secret) => new TextEncoder().encode(secret));

	const answer = core.verify(request, body, secrets);
	const verdict = answer.type === 'verified' ? 'valid' : 'invalid';
	if (verdict !== vector.expect) return `${verdict} (${answer.code ?? answer.scheme}), expected ${vector.expect}`;
	if (verdict === 'invalid') return null;

	const found = eventOf(core, request, body);
	for (const [field, expected] of [['id', vector.event_id], ['type', vector.event_type]]) {
		if (found[field] !== expected) return `event ${field} ${JSON.stringify(found[field])}, expected ${JSON.stringify(expected)}`;
	}
	return null;
}

/** An id that stands hashed is not the provider's own: the vectors have `null` for one that is too long to be taken as it is. */
function eventOf(core, request, body) {
	const derive = (source) => core.deriveKey({ ...request, scope: 'vectors', source }, body);
	const key = derive({ type: 'provider' });
	if (key.type === 'key') return { id: key.hashed ? null : key.eventId, type: key.eventType };
	// A body that cannot be read is no event and has no type, whatever a header says.
	if (key.code.startsWith('body_')) return { id: null, type: null };
	// The type of an event that names no good id can still be read, under a key of the caller's own.
	const other = derive({ type: 'value', parts: ['any'] });
	return { id: null, type: other.type === 'key' ? other.eventType : null };
}

function bodyOf({ body_base64: base64, body_gen: plan }) {
	if (!plan) return Buffer.from(base64, 'base64');
	const body = Buffer.concat([
		Buffer.from(plan.prefix_base64, 'base64'),
		Buffer.alloc(plan.count, plan.repeat_byte),
		Buffer.from(plan.suffix_base64, 'base64'),
	]);
	const digest = createHash('sha256').update(body).digest('hex');
	if (body.length !== plan.length || digest !== plan.sha256) throw new Error('the body was not generated as planned');
	return body;
}
