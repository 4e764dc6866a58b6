/** The templates that ship, imported as a user would. */
import { fillTemplate, gateType, readTemplate, triggerType } from '../../scripts/n8n/template.mjs';
import { freshPath, type Published, type Stage } from '../harness/stage';
import type { Node, Workflow } from '../harness/workflows';
import { secretOf, type Provider } from './gates';

export interface PublishedTemplate extends Published {
	/** Of the gate; `null` where there is no Claim. */
	readonly provider: Provider | 'none' | null;
}

interface Filling {
	/** In place of the APIs that it calls. */
	readonly api?: string;
	/** Of the workflow whose events it recovers: the tests of others are left alone. */
	readonly recovers?: string;
	/** Any other change of a node. */
	readonly change?: (node: Node) => Node;
	/** Of the workflow. */
	readonly settings?: Record<string, unknown>;
}

export async function publishTemplate(stage: Stage, name: string, { api, recovers, change = (node) => node, settings }: Filling = {}): Promise<PublishedTemplate> {
	const template = readTemplate(name) as Workflow;
	const claim = template.nodes.find(({ type, parameters }) => type === gateType && parameters['operation'] === 'claim');
	const provider = (claim?.parameters['provider'] ?? null) as PublishedTemplate['provider'];
	const credentials = {
		postgres: stage.postgres,
		...(provider !== null && provider !== 'none' && { webhookSigningSecretApi: await secretOf(stage, provider) }),
	};
	const filled = fillTemplate(template, credentials, { path: freshPath(name), ...(api !== undefined && { api }) }) as Workflow;
	const nodes = filled.nodes.map((node) => change(recovers === undefined ? node : only(recovers, node)));
	return { ...(await stage.publish({ ...filled, nodes, settings: { ...filled.settings, ...settings } })), provider };
}

/** A search of ours, for one workflow. */
function only(workflowId: string, node: Node): Node {
	const searches = node.type === triggerType || node.parameters['operation'] === 'recover';
	return searches ? { ...node, parameters: { ...node.parameters, options: { scope: 'workflow', workflowId } } } : node;
}
