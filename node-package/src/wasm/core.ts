import { CoreError } from '../errors';
import type {
	CanonicalAnswer,
	CanonicalMode,
	DecideRequest,
	Decision,
	DigestAnswer,
	KeyAnswer,
	KeyRequest,
	ProviderInfo,
	Refusal,
	VerifyAnswer,
	VerifyRequest,
} from './generated/boundary';

/** The functions of `boundary.d.ts`, safe to call with whatever a host hands out as bytes. */
export interface Core {
	verify(request: VerifyRequest, body: Uint8Array, secrets: readonly Uint8Array[]): VerifyAnswer;
	checkSecret(provider: string, secret: Uint8Array): { type: 'ok'; message: string } | Refusal;
	deriveKey(request: KeyRequest, body: Uint8Array): KeyAnswer;
	idempotencyKey(key: { readonly scope: string; readonly provider: string; readonly eventId: string }): string;
	canonicalize(mode: CanonicalMode, exclude: readonly string[], body: Uint8Array): CanonicalAnswer;
	canonicalDigest(mode: CanonicalMode, exclude: readonly string[], body: Uint8Array): DigestAnswer;
	decide(request: DecideRequest): Decision;
	newToken(): string;
	providers(): readonly ProviderInfo[];
}

/**
 * Largest body that is looked at. Above n8n's own limit of 16 MiB, which users may raise a little; the gate's limit
 * (`maxBodyBytes`) is lower and a matter of settings.
 */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** WebAssembly memory never shrinks: an instance that grew beyond this for one large body is let go after the call. */
export const MAX_KEPT_MEMORY_BYTES = 8 * 1024 * 1024;

/** A running module, as `generated/gate_wasm.js` makes it. Requests and answers are JSON text. */
export interface Instance {
	readonly functions: {
		/** `secrets`: one after the other, of these lengths. */
		verify(request: string, body: Uint8Array, secrets: Uint8Array, lengths: Uint32Array): string;
		checkSecret(provider: string, secret: Uint8Array): string;
		deriveKey(request: string, body: Uint8Array): string;
		idempotencyKey(scope: string, provider: string, eventId: string): string;
		canonicalize(request: string, body: Uint8Array): string;
		canonicalDigest(request: string, body: Uint8Array): string;
		decide(request: string): string;
		/** Empty where the host has no source of randomness. */
		newToken(): string;
		providers(): string;
		/** Where the last panic happened; empty where there was none. */
		lastPanic(): string;
	};
	readonly memory: { readonly buffer: { readonly byteLength: number } };
}

let shared: Core | undefined;

/** The core of this process. The module is compiled at the first call of a function, not here. */
export function loadCore(): Core {
	shared ??= createCore(() => {
		// Inlined by the bundler; required late so that loading the library costs nothing.
		const { instantiate } = require('./generated/gate_wasm.js') as { instantiate(): Instance };
		return instantiate();
	});
	return shared;
}

/** A core on instances made by the given function: one at a time, made anew after a trap or a very large body. */
export function createCore(instantiate: () => Instance): Core {
	let instance: Instance | undefined;

	function call<T>(use: (functions: Instance['functions']) => T): T {
		const current = (instance ??= instantiate());
		try {
			const answer = use(current.functions);
			if (current.memory.buffer.byteLength > MAX_KEPT_MEMORY_BYTES) instance = undefined;
			return answer;
		} catch (cause) {
			// After a trap the memory may hold anything. A malformed request leaves it sound, but is rare enough not to care.
			instance = undefined;
			throw new CoreError(describe(cause, current), { cause });
		}
	}

	return {
		verify(request, body, secrets) {
			const bytes = bodyBytes(body);
			const { joined, lengths } = joinSecrets(secrets);
			return call((core) => read<VerifyAnswer>(core.verify(JSON.stringify(request), bytes, joined, lengths)));
		},
		checkSecret(provider, secret) {
			const bytes = requireBytes(secret, 'A secret');
			return call((core) => read<ReturnType<Core['checkSecret']>>(core.checkSecret(provider, bytes)));
		},
		deriveKey(request, body) {
			const bytes = bodyBytes(body);
			return call((core) => read<KeyAnswer>(core.deriveKey(JSON.stringify(request), bytes)));
		},
		idempotencyKey({ scope, provider, eventId }) {
			return call((core) => core.idempotencyKey(scope, provider, eventId));
		},
		canonicalize(mode, exclude, body) {
			const bytes = bodyBytes(body);
			const answer = call((core) =>
				read<{ type: 'canonical'; text: string } | Refusal>(core.canonicalize(JSON.stringify({ mode, exclude }), bytes)),
			);
			return answer.type === 'canonical' ? { type: 'canonical', bytes: new TextEncoder().encode(answer.text) } : answer;
		},
		canonicalDigest(mode, exclude, body) {
			const bytes = bodyBytes(body);
			return call((core) => read<DigestAnswer>(core.canonicalDigest(JSON.stringify({ mode, exclude }), bytes)));
		},
		decide(request) {
			return call((core) => read<Decision>(core.decide(JSON.stringify(request))));
		},
		newToken() {
			const token = call((core) => core.newToken());
			if (token === '') throw new CoreError('This host has no source of randomness');
			return token;
		},
		providers() {
			return call((core) => read<readonly ProviderInfo[]>(core.providers()));
		},
	};
}

/** An answer of the contract. The module answers `malformed` to a request that is not in it: a bug of the caller. */
function read<T>(json: string): T {
	const answer = JSON.parse(json) as T | { type: 'malformed'; message: string };
	if (typeof answer === 'object' && answer !== null && 'type' in answer && answer.type === 'malformed') {
		throw new CoreError((answer as { message: string }).message);
	}
	return answer as T;
}

/**
 * The engine's own name of a typed array's class. Cannot be faked by an object, and holds for arrays of another realm.
 */
const typedArrayName = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get;

/**
 * Bytes or nothing. The bindings would take a string for that many ZERO bytes, and other arrays cut to 8 bits: a signature
 * over those can be made by anyone.
 */
function requireBytes(value: unknown, what: string): Uint8Array {
	if (typedArrayName?.call(value) === 'Uint8Array') return value as Uint8Array;
	throw new CoreError(`${what} must be a Uint8Array, not ${value === null ? 'null' : typeof value}`);
}

function bodyBytes(body: unknown): Uint8Array {
	const bytes = requireBytes(body, 'The body');
	if (bytes.byteLength <= MAX_BODY_BYTES) return bytes;
	throw new CoreError(`The body has ${bytes.byteLength} bytes; the core takes at most ${MAX_BODY_BYTES}`);
}

function joinSecrets(secrets: unknown): { joined: Uint8Array; lengths: Uint32Array } {
	if (!Array.isArray(secrets)) throw new CoreError('The secrets must be an array');
	const list = secrets.map((secret: unknown) => requireBytes(secret, 'A secret'));
	const lengths = Uint32Array.from(list, ({ byteLength }) => byteLength);
	const joined = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
	let at = 0;
	for (const secret of list) {
		joined.set(secret, at);
		at += secret.byteLength;
	}
	return { joined, lengths };
}

/** What broke, without anything of the request. */
function describe(cause: unknown, instance: Instance): string {
	let place = '';
	try {
		place = instance.functions.lastPanic();
	} catch {
		// The instance cannot even say so.
	}
	const what = cause instanceof Error ? cause.message : String(cause);
	return place ? `The core broke at ${place}: ${what}` : `The core could not work on this: ${what}`;
}
