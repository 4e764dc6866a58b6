/** Imports a workflow of `node-package/templates` the way a user would: choose credentials, publish. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../setup/cache.mjs';

/** Type name of the gate's node once it is installed as a community package. */
export const gateType = 'n8n-nodes-idempotency-gate.idempotencyGate';

/** @returns {import('./api.mjs').Workflow} */
export function readTemplate(name) {
	return JSON.parse(readFileSync(path.join(root, 'node-package', 'templates', `${name}.json`), 'utf8'));
}

/**
 * The template with these credentials on its gate, and on another webhook path if one is given.
 * @param {import('./api.mjs').Workflow} template
 * @param {Record<string, { id: string, name: string }>} credentials  by credential type
 */
export function fillTemplate(template, credentials, webhookPath) {
	const nodes = template.nodes.map((node) => {
		if (node.type === gateType) return { ...node, credentials };
		if (node.type === 'n8n-nodes-base.webhook' && webhookPath) return { ...node, parameters: { ...node.parameters, path: webhookPath } };
		return node;
	});
	return { ...template, nodes };
}
