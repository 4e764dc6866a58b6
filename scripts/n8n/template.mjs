/** Imports a workflow of `node-package/templates` the way a user would: choose credentials, fill in addresses, publish. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../setup/cache.mjs';

/** Type names of our nodes once they are installed as a community package. */
export const gateType = 'n8n-nodes-idempotency-gate.idempotencyGate';
export const triggerType = `${gateType}Trigger`;

/** @returns {import('./api.mjs').Workflow} */
export function readTemplate(name) {
	return JSON.parse(readFileSync(path.join(root, 'node-package', 'templates', `${name}.json`), 'utf8'));
}

/**
 * The template with what a user fills in.
 * @param {import('./api.mjs').Workflow} template
 * @param {Record<string, { id: string, name: string }>} credentials  by credential type; those that a node has no use for are left out
 * @param {{ path?: string, api?: string }} [places]  of the webhook, instead of its own; of the APIs, instead of `https://*.example.com`
 */
export function fillTemplate(template, credentials, { path: webhookPath, api } = {}) {
	const nodes = template.nodes.map((node) => {
		const { type, parameters } = node;
		if (type === gateType || type === triggerType) return { ...node, credentials: credentialsFor(node, credentials) };
		if (type === 'n8n-nodes-base.webhook' && webhookPath) return { ...node, parameters: { ...parameters, path: webhookPath } };
		if (type === 'n8n-nodes-base.httpRequest' && api) {
			return { ...node, parameters: { ...parameters, url: parameters.url.replace(/^https:\/\/\w+\.example\.com/, api) } };
		}
		return node;
	});
	return { ...template, nodes };
}

/** Claim alone checks signatures. */
function credentialsFor({ parameters }, { postgres, webhookSigningSecretApi }) {
	const signed = parameters.operation === 'claim' && parameters.provider !== 'none' && webhookSigningSecretApi;
	return { postgres, ...(signed && { webhookSigningSecretApi }) };
}
