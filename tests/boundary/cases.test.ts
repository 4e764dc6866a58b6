import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CoreError } from '../../node-package/src/errors';
import { type Core, loadCore } from '../../node-package/src/wasm/core';

interface Case {
	readonly name: string;
	readonly call: 'verify' | 'checkSecret' | 'deriveKey' | 'canonicalize' | 'canonicalDigest' | 'decide';
	readonly request?: never;
	readonly provider?: string;
	readonly body?: string;
	readonly secrets?: readonly string[];
	readonly answer: { readonly type?: string; readonly text?: string };
}

const core = loadCore();
const cases = JSON.parse(readFileSync(path.join(__dirname, 'cases.json'), 'utf8')) as Case[];

/** The same cases run on the host: `crates/gate-wasm/tests/boundary_cases.rs`. */
describe('the built module answers as the host does', () => {
	it.each(cases.map((one) => [one.name, one] as const))('%s', (_, one) => {
		if (one.answer.type === 'malformed') {
			expect(() => answerOf(core, one)).toThrow(CoreError);
		} else if (one.answer.text === undefined) {
			expect(answerOf(core, one)).toMatchObject(one.answer);
		} else {
			expect(answerOf(core, one)).toEqual({ type: one.answer.type, bytes: new TextEncoder().encode(one.answer.text) });
		}
	});
});

function answerOf(core: Core, { call, request, provider = '', body = '', secrets = [] }: Case): unknown {
	const bytes = new TextEncoder().encode(body);
	const keys = secrets.map((secret) => new TextEncoder().encode(secret));
	switch (call) {
		case 'verify':
			return core.verify(request as never, bytes, keys);
		case 'checkSecret':
			return core.checkSecret(provider, keys[0] as Uint8Array);
		case 'deriveKey':
			return core.deriveKey(request as never, bytes);
		case 'canonicalize': {
			const { mode, exclude } = request as unknown as { mode: 'rfc8785'; exclude: string[] };
			return core.canonicalize(mode, exclude, bytes);
		}
		case 'canonicalDigest': {
			const { mode, exclude } = request as unknown as { mode: 'rfc8785'; exclude: string[] };
			return core.canonicalDigest(mode, exclude, bytes);
		}
		case 'decide':
			return core.decide(request as never);
	}
}
