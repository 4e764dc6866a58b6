import { createHmac } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { CoreError } from '../../node-package/src/errors';
import {
	createCore,
	type Instance,
	loadCore,
	MAX_BODY_BYTES,
	MAX_KEPT_MEMORY_BYTES,
} from '../../node-package/src/wasm/core';

const { instantiate } = require('../../node-package/src/wasm/generated/gate_wasm.js') as { instantiate(): Instance };
const core = loadCore();
const nowMs = 1_760_000_000_000;

describe('the key for calls downstream', () => {
	it('is the same for a stored key as for the delivery that it came from', () => {
		const request = { provider: 'stripe', scope: 'workflow:Ab3', headers: [], nowMs, source: { type: 'provider' } } as const;
		const derived = core.deriveKey(request, Buffer.from('{"id":"evt_ä1","type":"x"}'));
		const stored = { scope: 'workflow:Ab3', provider: 'stripe', eventId: 'evt_ä1' };
		expect(core.idempotencyKey(stored)).toMatch(/^n8n-[0-9a-f]{40}$/);
		expect(derived).toMatchObject({ eventId: 'evt_ä1', idempotencyKey: core.idempotencyKey(stored) });
		expect(core.idempotencyKey({ ...stored, scope: 'workflow:Ab3s', provider: 'tripe' })).not.toBe(core.idempotencyKey(stored));
	});
});

describe('bytes are bytes', () => {
	/** wasm-bindgen alone turns a text into that many zero bytes: this signature over zeros would then be a valid one. */
	it('a signature over zeros does not verify a text', () => {
		const text = 'body';
		const forged = createHmac('sha256', Buffer.alloc(6)).update(Buffer.alloc(4)).digest('hex');
		const request = { provider: 'github', headers: [['X-Hub-Signature-256', `sha256=${forged}`]], nowMs } as const;
		expect(() => core.verify(request, text as never, [Buffer.from('secret')])).toThrow(CoreError);
		expect(() => core.verify(request, Buffer.from(text), ['secret' as never])).toThrow(CoreError);
		expect(core.verify(request, Buffer.from(text), [Buffer.from('secret')])).toMatchObject({ type: 'rejected' });
	});

	it.each<[string, unknown]>([
		['a text', 'abc'],
		['an array of numbers', [1, 2, 3]],
		['other typed arrays', new Uint16Array(3)],
		['signed bytes', new Int8Array(3)],
		['clamped bytes', new Uint8ClampedArray(3)],
		['a DataView', new DataView(new ArrayBuffer(3))],
		['an ArrayBuffer', new ArrayBuffer(3)],
		['null', null],
		['undefined', undefined],
		['an object in disguise', Object.create(Uint8Array.prototype)],
		['an object with the name', { [Symbol.toStringTag]: 'Uint8Array', length: 3 }],
	])('%s is refused wherever bytes are wanted', (_, value) => {
		const wrong = value as Uint8Array;
		const request = { provider: 'github', headers: [], nowMs };
		expect(() => core.verify(request, wrong, [])).toThrow(CoreError);
		expect(() => core.verify(request, Buffer.from('x'), [wrong])).toThrow(CoreError);
		expect(() => core.checkSecret('stripe', wrong)).toThrow(CoreError);
		expect(() => core.deriveKey({ ...request, scope: 's', source: { type: 'provider' } }, wrong)).toThrow(CoreError);
		expect(() => core.canonicalize('rfc8785', [], wrong)).toThrow(CoreError);
		expect(() => core.canonicalDigest('rfc8785', [], wrong)).toThrow(CoreError);
	});

	it('a Buffer, a part of one, and bytes of another realm are bytes', () => {
		const whole = Buffer.from('xx{"a":1}xx');
		const foreign = runInNewContext('Uint8Array.from([123, 125])') as Uint8Array;
		expect(text(core.canonicalize('rfc8785', [], whole.subarray(2, 9)))).toBe('{"a":1}');
		expect(text(core.canonicalize('rfc8785', [], foreign))).toBe('{}');
	});

	it('the error does not quote what was passed', () => {
		expect(() => core.checkSecret('stripe', 'whsec_very_secret' as never)).toThrow(
			expect.objectContaining({ message: expect.not.stringContaining('very_secret') }),
		);
	});
});

describe('a request outside the contract is a bug of the caller', () => {
	it.each<[string, () => unknown]>([
		['an unknown field', () => core.verify({ provider: 'github', headers: [], nowMs, extra: 1 } as never, bytes('{}'), [])],
		['a missing field', () => core.verify({ provider: 'github', headers: [] } as never, bytes('{}'), [])],
		['a time that is not a number', () => core.verify({ provider: 'github', headers: [], nowMs: NaN }, bytes('{}'), [])],
		['an unknown word', () => core.canonicalize('rfc9999' as never, [], bytes('{}'))],
		['an unknown verdict', () => core.decide({ ...stored('claimed'), verdict: 'perhaps' } as never)],
	])('%s', (_, call) => expect(call).toThrow(CoreError));

	it('and the next request is answered', () => {
		expect(() => core.decide({} as never)).toThrow(CoreError);
		expect(core.decide(stored('claimed'))).toMatchObject({ outcome: 'claimed', claimed: true });
	});
});

describe('an instance', () => {
	it('is made once, and late', () => {
		let made = 0;
		const counted = createCore(() => {
			made++;
			return instantiate();
		});
		expect(made).toBe(0);
		expect(counted.newToken()).not.toBe(counted.newToken());
		expect(made).toBe(1);
	});

	it('is dropped after a trap, and the next call gets a new one', () => {
		let made = 0;
		const fragile = createCore(() => {
			made++;
			const real = instantiate();
			if (made > 1) return real;
			// A real trap: the engine's own RuntimeError, as a panic or exhausted memory raises it.
			return { ...real, functions: { ...real.functions, newToken: trap, lastPanic: () => 'lib.rs:1:1' } };
		});
		expect(() => fragile.newToken()).toThrow(/broke at lib\.rs:1:1: unreachable/);
		expect(fragile.newToken()).toMatch(/^[0-9a-f]{32}$/);
		expect(made).toBe(2);
	});

	it('that grew for a large body is let go: memory never shrinks', () => {
		const grown: Instance[] = [];
		const watched = createCore(() => {
			grown.push(instantiate());
			return grown[grown.length - 1] as Instance;
		});
		watched.canonicalDigest('rfc8785', [], bytes('{}'));
		watched.canonicalDigest('rfc8785', [], bytes('{}'));
		expect(grown).toHaveLength(1);
		watched.canonicalDigest('rfc8785', [], Buffer.alloc(MAX_KEPT_MEMORY_BYTES, ' '));
		expect(grown[0]?.memory.buffer.byteLength).toBeGreaterThan(MAX_KEPT_MEMORY_BYTES);
		watched.canonicalDigest('rfc8785', [], bytes('{}'));
		expect(grown).toHaveLength(2);
		expect(grown[1]?.memory.buffer.byteLength).toBeLessThan(MAX_KEPT_MEMORY_BYTES);
	});

	it('is not fed a body above the cap', () => {
		const tooMuch = new Uint8Array(MAX_BODY_BYTES + 1);
		expect(() => core.canonicalDigest('rfc8785', [], tooMuch)).toThrow(/takes at most/);
	});
});

describe('tokens', () => {
	it('are 128 random bits', () => {
		const tokens = Array.from({ length: 1000 }, () => core.newToken());
		expect(new Set(tokens).size).toBe(1000);
		for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{32}$/);
	});
});

describe('the provider table', () => {
	it('is in alphabetical order and says of each row what people need', () => {
		const rows = core.providers();
		const names = rows.map(({ displayName }) => displayName);
		expect(names).toEqual([...names].sort((a, b) => a.localeCompare(b, 'en')));
		for (const row of rows.filter(({ key }) => key !== 'none')) {
			expect(row.signatureHeaders.length, row.key).toBeGreaterThan(0);
			expect(row.docsUrl, row.key).toMatch(/^https:\/\//);
			expect(row.secretHint, row.key).not.toBe('');
			// A body's digest guards exactly those ids that a sender could change.
			expect(row.guardBody, row.key).toBe(row.idFrom !== null && !row.idSigned);
		}
	});
});

/** The smallest module that traps: one function whose body is `unreachable`. */
const trap = (() => {
	const binary = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 5, 1, 3, 0, 0, 11];
	const { Instance, Module } = (globalThis as unknown as { WebAssembly: Engine }).WebAssembly;
	return new Instance(new Module(Uint8Array.from(binary))).exports.f;
})();

/** The little of it that is used here; the types of Node.js leave it to those of browsers. */
interface Engine {
	readonly Module: new (binary: Uint8Array) => object;
	readonly Instance: new (module: object) => { readonly exports: { readonly f: () => never } };
}

function bytes(content: string): Uint8Array {
	return Buffer.from(content);
}

function text(answer: ReturnType<typeof core.canonicalize>): string {
	if (answer.type !== 'canonical') throw new Error(answer.message);
	return Buffer.from(answer.bytes).toString();
}

function stored(verdict: string) {
	const policy = { inProgress: 'accept', needsAttention: 'accept', inProgressOutput: 'duplicate' } as const;
	return { type: 'store', verdict, state: 'processing', retryAfterMs: null, payloadChanged: false, policy } as const;
}
