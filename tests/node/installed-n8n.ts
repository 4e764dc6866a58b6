/** The modules of an installed n8n, and the way n8n makes them known to community packages. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

/** A folder for the test file that imports this. n8n writes its settings there. */
export const home = mkdtempSync(path.join(tmpdir(), 'gate-engine-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
process.env['N8N_USER_FOLDER'] = home;

/** `GATE_N8N_MODULES` names the folder of an installed n8n's modules; else the one beside `N8N_BIN` or of the set-up. */
const modules = process.env['GATE_N8N_MODULES'] ?? besideBin(process.env['N8N_BIN']);

// Community packages find `n8n-workflow` this way and nothing of this repository.
process.env['NODE_PATH'] = modules;
(Module as unknown as { _initPaths(): void })._initPaths();

/** `require` as in n8n's own code. */
export const fromN8n = createRequire(path.join(modules, 'n8n', 'package.json'));

function besideBin(bin: string | undefined): string {
	// .../node_modules/n8n/bin/n8n
	if (bin !== undefined) return path.resolve(bin, '../../..');
	return path.resolve(__dirname, '../../.cache/n8n-2.41.1/node_modules');
}
