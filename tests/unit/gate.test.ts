import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { StoreError } from '../../node-package/src/errors';
import type { Applicant, GateRules } from '../../node-package/src/examine';
import { Gate } from '../../node-package/src/gate';
import type { ClaimAsk, Store, StoreReply } from '../../node-package/src/store/store';
import { loadCore } from '../../node-package/src/wasm/core';

const core = loadCore();
const secret = 'whsec_unit_test_secret';
const now = 1_760_000_000_000;

const rules: GateRules = {
	provider: 'stripe',
	verification: { secrets: [Buffer.from(secret)] },
	scope: 'workflow:unit',
	keySource: { type: 'provider' },
	businessKey: null,
	guardBody: false,
	maxBodyBytes: 1_000_000,
	leaseMs: 60_000,
	maxAttempts: 5,
	unfinished: 'take_over',
	payloadChanged: 'duplicate',
	policy: { inProgress: 'accept', needsAttention: 'accept', inProgressOutput: 'duplicate' },
};

describe('what is refused before the store', () => {
	it.each<[string, Partial<GateRules>, Partial<Applicant['delivery']>, string]>([
		['a wrong signature', {}, { headers: [['stripe-signature', `t=${now / 1000},v1=${'0'.repeat(64)}`]] }, 'signature_mismatch'],
		['no signature', {}, { headers: [] }, 'signature_missing'],
		['no raw body', {}, { body: null }, 'raw_body_missing'],
		['a large body', { maxBodyBytes: 10 }, {}, 'body_too_large'],
		['an old timestamp', {}, { receivedAtMs: now + 301_000 }, 'timestamp_outside_tolerance'],
		['no secret', { verification: { secrets: [] } }, {}, 'secret_missing'],
		['an empty secret', { verification: { secrets: [Buffer.from('')] } }, {}, 'secret_missing'],
		['an unknown provider', { provider: 'strype' }, {}, 'provider_unknown'],
		['an empty computed id', { keySource: { type: 'value', parts: [''] } }, {}, 'event_id_missing'],
		['an empty business key', { businessKey: '' }, {}, 'business_key_invalid'],
		['NUL in a business key', { businessKey: 'a\0b' }, {}, 'business_key_invalid'],
	])('%s', async (_, changedRules, changedDelivery, code) => {
		const applicant = stripe('evt_1', changedRules, changedDelivery);
		const [admission] = await new Gate(core, unreachable).admit([applicant]);
		expect(admission).toMatchObject({ refusal: { code }, claim: null, storeError: null });
		expect(admission?.decision).toMatchObject({ claimed: false, output: 'rejected' });
		expect(admission?.decision.response.statusCode).toBeGreaterThanOrEqual(400);
		expect(JSON.stringify(admission)).not.toContain(secret);
	});

	it('no body is needed for a computed id on a request that is not verified', async () => {
		const open = { provider: 'none', verification: null, keySource: { type: 'value', parts: ['42'] } } as const;
		const asked: ClaimAsk[] = [];
		await new Gate(core, recording(asked)).admit([stripe('evt_1', open, { body: null, headers: [] })]);
		expect(asked).toMatchObject([{ key: { scope: 'workflow:unit', provider: 'none', eventId: '42' }, bodyDigest: null }]);
	});
});

describe('what the store is asked', () => {
	it('one call for all deliveries that pass, with the guards of each', async () => {
		const asked: ClaimAsk[] = [];
		const calls: number[] = [];
		const store = recording(asked, calls);
		const forged = stripe('evt_2', {}, { headers: [] });
		const guarded = stripe('evt_3', { businessKey: 'order:7:paid', guardBody: true });
		const admissions = await new Gate(core, store).admit([stripe('evt_1'), forged, guarded]);

		expect(calls).toEqual([2]);
		expect(asked.map(({ key }) => key.eventId)).toEqual(['evt_1', 'evt_3']);
		expect(asked[1]?.guards).toEqual([
			{ kind: 'business_key', key: 'order:7:paid' },
			{ kind: 'body_digest', key: asked[1]?.bodyDigest },
		]);
		expect(admissions.map(({ decision }) => decision.outcome)).toEqual(['claimed', 'rejected', 'claimed']);
		expect(admissions.map(({ key }) => key?.eventId)).toEqual(['evt_1', undefined, 'evt_3']);
	});

	it('a business key longer than a key may be is hashed, not cut', async () => {
		const asked: ClaimAsk[] = [];
		const long = (end: string) => `${'k'.repeat(600)}${end}`;
		const two = [stripe('evt_1', { businessKey: long('a') }), stripe('evt_2', { businessKey: long('b') })];
		await new Gate(core, recording(asked)).admit(two);
		const [first, second] = asked.map(({ guards }) => guards[0]?.key as string);
		expect(first).toMatch(/^sha256:[0-9a-f]{64}$/);
		expect(first).not.toBe(second);
	});
});

describe('a store that does not answer', () => {
	it.each([
		[new StoreError('store_unavailable', 'down', 'wait'), 503],
		[new StoreError('store_busy', 'busy', 'wait'), 503],
		[new StoreError('store_misconfigured', 'no rights', 'grant them'), 503],
		[new TypeError('a bug in a driver'), 503],
	])('%s is neither claimed nor duplicate', async (error, statusCode) => {
		const gate = new Gate(core, failing(error));
		const admissions = await gate.admit([stripe('evt_1'), stripe('evt_2')]);
		for (const { decision, storeError, claim } of admissions) {
			expect(claim).toBeNull();
			expect(storeError).toBeInstanceOf(StoreError);
			expect(decision).toMatchObject({ outcome: 'unavailable', claimed: false, output: 'rejected', response: { statusCode } });
		}
	});

	it('too few replies are an unknown, not a claim', async () => {
		const store = { claim: async () => [] };
		const [admission] = await new Gate(core, store).admit([stripe('evt_1')]);
		expect(admission?.decision).toMatchObject({ outcome: 'unavailable', claimed: false });
	});

	it('one stuck key does not take down what was claimed beside it', async () => {
		const busy = new StoreError('store_busy', 'a rival does not commit', 'wait');
		const owners = new Map<string, Set<string>>();
		const store: Claims = {
			claim: async (asks) => {
				for (const { key, owner } of asks) owners.set(key.eventId, (owners.get(key.eventId) ?? new Set()).add(owner));
				if (asks.some(({ key }) => key.eventId === 'evt_stuck')) throw busy;
				return asks.map(() => ({ ...claimed(), verdict: 'reentrant' }));
			},
		};
		const admissions = await new Gate(core, store).admit([stripe('evt_1'), stripe('evt_stuck'), stripe('evt_3')]);
		expect(admissions.map(({ decision }) => decision.outcome)).toEqual(['reentrant', 'unavailable', 'reentrant']);
		expect([...owners.values()].map(({ size }) => size)).toEqual([1, 1, 1]);
	});

	it('one ask that cannot be stored leaves the others alone', async () => {
		const refuse = new StoreError('store_refused_key', 'cannot be stored', 'change it');
		const store: Claims = {
			claim: async (asks) => {
				if (asks.some(({ key }) => key.eventId === 'evt_bad')) throw refuse;
				return asks.map(claimed);
			},
		};
		const admissions = await new Gate(core, store).admit([stripe('evt_1'), stripe('evt_bad'), stripe('evt_3')]);
		expect(admissions.map(({ decision }) => decision.outcome)).toEqual(['claimed', 'unavailable', 'claimed']);
		expect(admissions[1]?.storeError).toBe(refuse);
	});
});

describe('what is stored with a claim', () => {
	it('the delivery, without what vouches for its sender', async () => {
		const asked: ClaimAsk[] = [];
		const applicant = stripe('evt_1', { savePayload: { keep: 'always', maxBytes: 1000 } });
		const { headers: signed } = applicant.delivery;
		const headers = [...signed, ['Content-Type', 'application/json'], ['Authorization', 'Bearer x'], ['X-Api-Key', 'x']] as const;
		const [admission] = await new Gate(core, recording(asked)).admit([
			{ ...applicant, delivery: { ...applicant.delivery, headers } },
		]);
		expect(asked[0]?.payload).toEqual({
			headers: [['Content-Type', 'application/json']],
			body: applicant.delivery.body,
			keep: 'always',
		});
		expect(admission?.payloadSaved).toBe(true);
	});

	it.each<[string, Partial<GateRules>]>([
		['nothing unless it is wanted', {}],
		['nothing that is too large', { savePayload: { keep: 'always', maxBytes: 10 } }],
		['nothing where the claim is the end', { savePayload: { keep: 'always', maxBytes: 1000 }, unfinished: 'complete_on_claim' }],
	])('%s', async (_, changed) => {
		const asked: ClaimAsk[] = [];
		const [admission] = await new Gate(core, recording(asked)).admit([stripe('evt_1', changed)]);
		expect(asked[0]).not.toHaveProperty('payload');
		expect(admission).toMatchObject({ decision: { claimed: true }, payloadSaved: false });
	});

	it('messages with keys of their own, also two about one topic', async () => {
		const asked: ClaimAsk[] = [];
		const message = { topic: 'mail', orderingKey: null, body: '{}', messageKey: null };
		const third = { ...message, topic: 'mail-2' };
		const outbox = [message, message, third, { ...message, messageKey: 'mine' }];
		const [admission] = await new Gate(core, recording(asked)).admit([stripe('evt_1', { outbox })]);
		const key = admission?.key?.idempotencyKey;
		expect(asked[0]?.outbox?.map(({ scope, messageKey }) => [scope, messageKey])).toEqual([
			['workflow:unit', `${key}-mail`],
			['workflow:unit', `${key}#2-mail`],
			['workflow:unit', `${key}-mail-2`],
			['workflow:unit', 'mine'],
		]);
	});

	it.each([
		[{ key: 'sub_1', version: '1760000000.000000001' }, true],
		[{ key: 'sub_1', version: '123456789012345678901234567890' }, true],
		[{ key: '', version: '1' }, false],
		[{ key: 'a\0b', version: '1' }, false],
		[{ key: 'a\ud800', version: '1' }, false],
		[{ key: 'ä'.repeat(257), version: '1' }, false],
		[{ key: 'sub_1', version: '' }, false],
		[{ key: 'sub_1', version: '-1' }, false],
		[{ key: 'sub_1', version: '2026-12-01' }, false],
		[{ key: 'sub_1', version: '1e3' }, false],
	])('the object that the event is about, if it can be compared: %o', async (subject, comparable) => {
		const asked: ClaimAsk[] = [];
		const [admission] = await new Gate(core, recording(asked)).admit([stripe('evt_1', { subject })]);
		expect(asked.map(({ subject: about }) => about)).toEqual(comparable ? [subject] : []);
		if (!comparable) expect(admission).toMatchObject({ refusal: { code: 'object_version_invalid' }, decision: { output: 'rejected' } });
	});
});

describe('waiting for the winner', () => {
	const inProgress: Partial<StoreReply> = { verdict: 'in_progress', fence: null, matchedOn: 'event_id', retryAfterMs: 60_000 };
	const completed: Partial<StoreReply> = { verdict: 'completed', state: 'completed', fence: null, result: { ok: 1 } };

	it('asks again with the same token until the rival is done, and carries its result', async () => {
		const asked: ClaimAsk[] = [];
		const store = scripted(asked, [inProgress, inProgress, completed]);
		const [admission] = await new Gate(core, store).admit([stripe('evt_1', { waitForWinnerMs: 60_000 })]);
		expect(admission).toMatchObject({ decision: { outcome: 'completed' }, claim: { result: { ok: 1 } } });
		expect(new Set(asked.map(({ owner }) => owner)).size).toBe(1);
		expect(asked).toHaveLength(3);
	});

	it('takes over what the rival leaves behind', async () => {
		const store = scripted([], [inProgress, { verdict: 'taken_over', attempt: 2 }]);
		const [admission] = await new Gate(core, store).admit([stripe('evt_1', { waitForWinnerMs: 60_000 })]);
		expect(admission?.decision).toMatchObject({ claimed: true, outcome: 'taken_over' });
	});

	it('has an end', async () => {
		const asked: ClaimAsk[] = [];
		const [admission] = await new Gate(core, scripted(asked, [inProgress])).admit([stripe('evt_1', { waitForWinnerMs: 120 })]);
		expect(admission?.decision.outcome).toBe('in_progress');
		expect(asked.length).toBeGreaterThan(1);
	});

	it('does not begin unless it is wanted, nor for what is not a live claim', async () => {
		const asked: ClaimAsk[] = [];
		const gate = new Gate(core, scripted(asked, [inProgress]));
		await gate.admit([stripe('evt_1')]);
		const failed: Partial<StoreReply> = { verdict: 'backoff', state: 'failed', fence: null, retryAfterMs: 5 };
		await new Gate(core, scripted(asked, [failed])).admit([stripe('evt_1', { waitForWinnerMs: 60_000 })]);
		expect(asked).toHaveLength(2);
	});

	it('an unknown on the way is an unknown', async () => {
		const lost = new StoreError('store_unavailable', 'connection lost', 'look at it');
		const store = scripted([], [inProgress, lost]);
		const [admission] = await new Gate(core, store).admit([stripe('evt_1', { waitForWinnerMs: 60_000 })]);
		expect(admission).toMatchObject({ decision: { outcome: 'unavailable', claimed: false }, storeError: lost });
	});
});

function stripe(id: string, changed: Partial<GateRules> = {}, delivery: Partial<Applicant['delivery']> = {}): Applicant {
	const body = Buffer.from(JSON.stringify({ id, type: 'invoice.paid' }));
	const t = now / 1000;
	const v1 = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
	const headers = [['stripe-signature', `t=${t},v1=${v1}`]] as const;
	return {
		delivery: { headers, body, receivedAtMs: now, ...delivery },
		rules: { ...rules, ...changed },
		owner: core.newToken(),
		executionId: '7',
	};
}

/** What a gate needs of a store. */
type Claims = Pick<Store, 'claim'>;

/** A store that must not be asked. */
const unreachable: Claims = {
	claim: async () => {
		throw new Error('asked, though nothing should be');
	},
};

function failing(error: Error): Claims {
	return {
		claim: async () => {
			throw error;
		},
	};
}

/** Writes down what it is asked; real claims are made on real servers, in tests/store and tests/outside. */
function recording(asked: ClaimAsk[], calls: number[] = []): Claims {
	return {
		claim: async (asks) => {
			asked.push(...asks);
			calls.push(asks.length);
			return asks.map(claimed);
		},
	};
}

/** Gives these answers in turn, and the last one from then on. */
function scripted(asked: ClaimAsk[], answers: ReadonlyArray<Partial<StoreReply> | StoreError>): Claims {
	let next = 0;
	return {
		claim: async (asks) => {
			asked.push(...asks);
			const answer = answers[Math.min(next++, answers.length - 1)];
			if (answer instanceof StoreError) throw answer;
			return asks.map(() => ({ ...claimed(), ...answer }));
		},
	};
}

function claimed(): StoreReply {
	return {
		verdict: 'claimed',
		state: 'processing',
		fence: '1',
		attempt: 1,
		firstSeenAtMs: now,
		leaseUntilMs: now + 60_000,
		completedAtMs: null,
		retryAfterMs: null,
		payloadChanged: false,
		matchedOn: null,
		claimedBy: { executionId: '7', atMs: now },
		result: null,
		stage: null,
	};
}
