/** What npm would publish, unpacked and loaded the way n8n does it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { INodeType } from 'n8n-workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { senders } from '../../scripts/deliveries/senders.mjs';
import { pack } from '../../scripts/pack.mjs';
// n8n gives community packages its own n8n-workflow.
import { fromN8n } from '../node/installed-n8n';

interface Manifest {
	name: string;
	version: string;
	main: string;
	types: string;
	dependencies?: object;
	scripts?: object;
	n8n: { nodes: string[]; credentials: string[] };
}

let folder: string;
let tarball: string;
let files: string[];
let manifest: Manifest;

beforeAll(async () => {
	tarball = await pack({ log: () => undefined });
	folder = mkdtempSync(path.join(tmpdir(), 'gate-package-'));
	execFileSync('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
	files = readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
		.sort();
	manifest = JSON.parse(read('package.json')) as Manifest;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (file: string) => readFileSync(path.join(folder, file), 'utf8');
const load = (file: string): unknown => createRequire(path.join(folder, 'package.json'))(path.join(folder, file));

describe('the tarball', () => {
	it('is small', () => {
		expect(statSync(tarball).size).toBeLessThan(1024 * 1024);
	});

	it('holds what is needed and nothing else', () => {
		const allowed = /^(package\.json|README\.md|LICENSE|dist\/.*\.(js|d\.ts)|dist\/nodes\/(?<name>\w+)\/\k<name>\.node\.json|dist\/nodes\/IdempotencyGate\/idempotencyGate(\.dark)?\.svg)$/;
		expect(files.filter((file) => !allowed.test(file))).toEqual([]);
		expect(files).toEqual(
			expect.arrayContaining([
				'LICENSE',
				'README.md',
				'dist/credentials/WebhookSigningSecretApi.credentials.js',
				'dist/index.d.ts',
				'dist/index.js',
				'dist/nodes/IdempotencyGate/IdempotencyGate.node.js',
				'dist/nodes/IdempotencyGate/IdempotencyGate.node.json',
				'dist/nodes/IdempotencyGate/idempotencyGate.dark.svg',
				'dist/nodes/IdempotencyGate/idempotencyGate.svg',
				'dist/nodes/IdempotencyGateTrigger/IdempotencyGateTrigger.node.js',
				'dist/nodes/IdempotencyGateTrigger/IdempotencyGateTrigger.node.json',
				'package.json',
			]),
		);
	});

	it('has no dependencies and runs nothing when it is installed', () => {
		expect(manifest.dependencies ?? {}).toEqual({});
		expect(manifest.scripts ?? {}).toEqual({});
	});

	it('holds no secret of the tests and no path of this machine', () => {
		const secrets = Object.values(senders).map(({ secret }) => secret);
		const repository = path.resolve(__dirname, '../..');
		for (const file of files) {
			const text = read(file);
			expect(secrets.filter((secret) => text.includes(secret)), file).toEqual([]);
			expect(text.includes(repository), file).toBe(false);
		}
	});

	it('carries one WASM', () => {
		// Base64 of the bytes that every WASM begins with.
		const carriers = files.filter((file) => file.endsWith('.js') && read(file).includes('AGFzbQ'));
		expect(carriers).toEqual(['dist/index.js']);
	});

	it('needs nothing but Node.js and n8n-workflow', () => {
		const builtin = new Set(['n8n-workflow', 'pg-native', 'pg-cloudflare', ...createRequire(__filename)('module').builtinModules as string[]]);
		for (const file of files.filter((name) => name.endsWith('.js'))) {
			const required = [...read(file).matchAll(/\brequire\("([^"]+)"\)/g)].map((match) => match[1]!.replace(/^node:/, ''));
			expect(required.filter((name) => !name.startsWith('.') && !builtin.has(name)), file).toEqual([]);
		}
	});
});

describe('n8n\'s loader', () => {
	it('finds every class that package.json names', () => {
		for (const file of [...manifest.n8n.nodes, ...manifest.n8n.credentials]) {
			const [className] = path.basename(file).split('.');
			const exported = load(file) as Record<string, new () => object>;
			expect(new exported[className!]!()).toBeInstanceOf(Object);
		}
	});

	it('takes the package whole, with codex and icons', async () => {
		const { PackageDirectoryLoader } = fromN8n('n8n-core') as { PackageDirectoryLoader: new (folder: string) => Loader };
		const loader = new PackageDirectoryLoader(folder);
		await loader.loadAll();
		const [node, trigger] = loader.types.nodes;
		const [credential] = loader.types.credentials;
		const codex = { categories: ['Development', 'Utility'] };
		expect(node).toMatchObject({ name: 'idempotencyGate', codex });
		expect(trigger).toMatchObject({ name: 'idempotencyGateTrigger', codex });
		expect(trigger!.properties!.map(({ name }) => name), 'n8n adds the times').toContain('pollTimes');
		expect(credential).toMatchObject({ name: 'webhookSigningSecretApi', supportedNodes: ['idempotencyGate'] });
		for (const { iconUrl } of [node!, trigger!, credential!]) {
			const icons = [iconUrl!.light, iconUrl!.dark].map((url) => path.join(folder, url.replace(`icons/${manifest.name}/`, '')));
			expect(icons.filter((icon) => !existsSync(icon))).toEqual([]);
			expect(new Set(icons).size).toBe(2);
		}
	});

	it('gets the name of the package right in the codex', () => {
		for (const file of manifest.n8n.nodes) {
			const codex = JSON.parse(read(file.replace(/\.js$/, '.json'))) as { node: string };
			expect(codex.node).toBe(`${manifest.name}.${instance<INodeType>(file).description.name}`);
		}
	});
});

describe('the library', () => {
	it('loads by the name in package.json and has its types beside it', () => {
		const library = load(manifest.main) as typeof import('../../node-package/src');
		expect(library.loadCore().providers().length).toBeGreaterThan(5);
		expect(existsSync(path.join(folder, manifest.types))).toBe(true);
	});

	it('has types that stand on their own', () => {
		for (const file of files.filter((name) => name.endsWith('.d.ts'))) {
			const targets = [...read(file).matchAll(/from ['"](\.[^'"]+)['"]/g)].map((match) => match[1]!);
			for (const target of targets) {
				const base = path.join(folder, path.dirname(file), target);
				const found = [`${base}.d.ts`, path.join(base, 'index.d.ts')].some((candidate) => existsSync(candidate));
				expect(found, `${file}: ${target}`).toBe(true);
			}
		}
	});
});

function instance<T>(file: string): T {
	const [className] = path.basename(file).split('.');
	return new (load(file) as Record<string, new () => T>)[className!]!();
}

/** What n8n-core's loader of packages makes of one. */
interface Loader {
	loadAll(): Promise<void>;
	readonly types: { readonly nodes: readonly Loaded[]; readonly credentials: readonly Loaded[] };
}

interface Loaded {
	readonly name: string;
	readonly properties?: ReadonlyArray<{ readonly name: string }>;
	readonly iconUrl?: { readonly light: string; readonly dark: string };
}
