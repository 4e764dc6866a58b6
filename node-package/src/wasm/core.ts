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
		verify(request: string, body: Uint8Array, secrets: Uint8Array[]): string;
		checkSecret(provider: string, secret: Uint8Array): string;
		deriveKey(request: string, body: Uint8Array): string;
		canonicalize(request: string, body: Uint8Array): Uint8Array | string;
		canonicalDigest(request: string, body: Uint8Array): string;
		decide(request: string): string;
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
			const keys = secretList(secrets);
			return call((core) => JSON.parse(core.verify(JSON.stringify(request), bytes, keys)) as VerifyAnswer);
		},
		checkSecret(provider, secret) {
			const bytes = requireBytes(secret, 'A secret');
			return call((core) => JSON.parse(core.checkSecret(provider, bytes)) as ReturnType<Core['checkSecret']>);
		},
		deriveKey(request, body) {
			const bytes = bodyBytes(body);
			return call((core) => JSON.parse(core.deriveKey(JSON.stringify(request), bytes)) as KeyAnswer);
		},
		canonicalize(mode, exclude, body) {
			const bytes = bodyBytes(body);
			return call((core) => {
				const answer = core.canonicalize(JSON.stringify({ mode, exclude }), bytes);
				return typeof answer === 'string' ? (JSON.parse(answer) as Refusal) : { type: 'canonical', bytes: answer };
			});
		},
		canonicalDigest(mode, exclude, body) {
			const bytes = bodyBytes(body);
			return call((core) => JSON.parse(core.canonicalDigest(JSON.stringify({ mode, exclude }), bytes)) as DigestAnswer);
		},
		decide(request) {
			return call((core) => JSON.parse(core.decide(JSON.stringify(request))) as Decision);
		},
		newToken() {
			return call((core) => core.newToken());
		},
		providers() {
			return call((core) => JSON.parse(core.providers()) as readonly ProviderInfo[]);
		},
	};
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

function secretList(secrets: unknown): Uint8Array[] {
	if (!Array.isArray(secrets)) throw new CoreError('The secrets must be an array');
	return secrets.map((secret: unknown) => requireBytes(secret, 'A secret'));
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
