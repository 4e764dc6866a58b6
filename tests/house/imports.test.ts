import path from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { read, sources } from './tree';

/**
 * Three rings, and an arrow always points inward: core <- wasm <- src/wasm <- src/gate <- nodes. Each rule says what the
 * files of one place may import; what is not allowed is a fault.
 */
const rules: Array<{ place: RegExp; what: string; allowed: RegExp[] }> = [
	{
		what: 'the core wrapper knows the generated module and its own errors',
		place: /^node-package\/src\/wasm\//,
		allowed: [/^node-package\/src\/wasm\//, /^node-package\/src\/errors$/],
	},
	{
		what: 'a store knows the contract, the words and itself, never another store',
		place: /^node-package\/src\/store\/postgres\//,
		allowed: [
			/^node-package\/src\/store\/(store|lifecycle|outbox|payload|clients|gather)$/,
			/^node-package\/src\/store\/postgres(\/|$)/,
			/^node-package\/src\/(backoff|errors)$/,
			/^node-package\/src\/wasm\/generated\/vocabulary$/,
		],
	},
	{
		what: 'what stores share knows no store',
		place: /^node-package\/src\/store\/[^/]+\.ts$/,
		allowed: [
			/^node-package\/src\/store\/[^/]+$/,
			/^node-package\/src\/(backoff|errors)$/,
			/^node-package\/src\/wasm\/generated\/vocabulary$/,
		],
	},
	{
		what: 'the gate knows contracts, not implementations',
		place: /^node-package\/src\/(gate|examine)\.ts$/,
		allowed: [
			/^node-package\/src\/(errors|examine|savedHeaders)$/,
			/^node-package\/src\/store\/(store|outbox|payload)$/,
			/^node-package\/src\/wasm\/core$/,
			/^node-package\/src\/wasm\/generated\/(boundary|vocabulary)$/,
			/^node:timers\/promises$/,
		],
	},
	{
		what: 'the library knows no n8n, no driver and no host',
		place: /^node-package\/src\//,
		allowed: [/^node-package\/src\//, /^node:(assert|buffer|crypto|timers\/promises|worker_threads)$/],
	},
	{
		what: 'drivers and sockets are met in connect/ only',
		place: /^node-package\/nodes\/[^/]+\/connect\//,
		allowed: [/^node-package\/(src|nodes)\//, /^n8n-workflow$/, /^pg$/, /^ssh2$/, /^node:/],
	},
	{
		what: 'the n8n shell knows the library and n8n',
		place: /^node-package\/(nodes|credentials)\//,
		allowed: [/^node-package\/(src|nodes)\//, /^n8n-workflow$/, /^node:(buffer|crypto)$/],
	},
];

describe('who may import whom', () => {
	for (const file of sources(/^node-package\/(src|nodes|credentials)\/.*\.ts$/)) {
		const binding = rules.filter(({ place }) => place.test(file));
		it(`${file}: ${binding[0]?.what ?? 'has a rule'}`, () => {
			expect(binding, 'no rule of this suite covers the file').not.toEqual([]);
			const { allowed } = binding[0] as (typeof rules)[number];
			const faults = imports(file).filter((target) => !allowed.some((pattern) => pattern.test(target)));
			expect(faults).toEqual([]);
		});
	}

	it('sees imports of every form', () => {
		const text = "import a from './a'; export * from './b'; const c = require('./c'); type D = import('./d').D;";
		expect(importsOf(text, 'x/y.ts').sort()).toEqual(['x/a', 'x/b', 'x/c', 'x/d']);
	});

	it('the Rust core depends on no wasm, clock, randomness or serialisation crate', () => {
		const section = /\[dependencies\]([^[]*)/.exec(read('crates/gate-core/Cargo.toml'))?.[1] ?? '';
		const crates = [...section.matchAll(/^([a-z0-9_-]+)/gm)].map((match) => match[1]);
		const forbidden = ['wasm-bindgen', 'js-sys', 'getrandom', 'serde', 'serde_json', 'serde-wasm-bindgen', 'web-time'];
		expect(crates.filter((name) => forbidden.includes(name as string))).toEqual([]);
		const clocks = sources(/^crates\/gate-core\/src\/.*\.rs$/).filter((file) => /std::(time|env|fs|net)/.test(read(file)));
		expect(clocks).toEqual([]);
	});
});

function imports(file: string): string[] {
	return importsOf(read(file), file);
}

/** Targets relative to the root without their ending, or bare names. Types count as well: an arrow is an arrow. */
function importsOf(text: string, file: string): string[] {
	const targets = new Set<string>();
	const visit = (node: ts.Node): void => {
		const named = ts.isImportDeclaration(node) || ts.isExportDeclaration(node) ? node.moduleSpecifier : undefined;
		const called =
			ts.isCallExpression(node) &&
			(node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText() === 'require')
				? node.arguments[0]
				: undefined;
		const typed = ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
		const specifier = named ?? called ?? typed;
		if (specifier && ts.isStringLiteralLike(specifier)) targets.add(resolve(specifier.text, file));
		ts.forEachChild(node, visit);
	};
	visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
	return [...targets];
}

function resolve(specifier: string, file: string): string {
	if (!specifier.startsWith('.')) return specifier;
	return path.posix.join(path.posix.dirname(file), specifier).replace(/\.(js|ts)$/, '');
}
