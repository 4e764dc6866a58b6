/** Workflows with a gate: Webhook, Idempotency Gate, and one Respond node on each output. */
import { senders } from '../../scripts/deliveries/senders.mjs';
import { gateType } from '../../scripts/n8n/template.mjs';
import { freshPath, type Published, type Stage } from '../harness/stage';
import { node, respond, webhook, workflow, type CredentialRef, type Node } from '../harness/workflows';

export type Provider = keyof typeof senders;

export interface GateSetup {
	readonly provider: Provider | 'none';
	/** Other parameters of the node, over the provider's own. */
	readonly parameters?: Record<string, unknown>;
	readonly options?: Record<string, unknown>;
	readonly onError?: string;
	readonly rawBody?: boolean;
}

/** Those of the suite whose deliveries are signed; each one's sender signs by its own code. */
export const signedProviders = ['stripe', 'shopify', 'razorpay', 'paddle', 'github', 'standard_webhooks', 'custom'] as const;

/** What the panel must say for the home-made scheme of the `custom` sender. */
const parametersOf: Partial<Record<Provider, Record<string, unknown>>> = {
	custom: {
		signatureHeader: 'X-Shop-Signature',
		signatureFormat: 'hex',
		hash: 'sha512',
		signatureOptions: { prefix: 'sha512=' },
		eventIdFrom: 'expression',
		eventId: '={{ $json.body.reference }}',
	},
};

export async function publishGate(stage: Stage, setup: GateSetup): Promise<Published> {
	const path = freshPath(setup.provider);
	const nodes = [
		webhook(path, { rawBody: setup.rawBody ?? true }),
		await gateNode(stage, setup),
		respond('Claimed'),
		respond('Duplicate'),
		respond('Rejected'),
	];
	return await stage.publish(
		workflow(`Gate for ${path}`, nodes, [
			['Webhook', 'Gate'],
			['Gate', 'Claimed', 0],
			['Gate', 'Duplicate', 1],
			['Gate', 'Rejected', 2],
		]),
	);
}

export async function gateNode(stage: Stage, { provider, parameters, options = {}, onError }: GateSetup): Promise<Node> {
	const own = provider === 'none' ? {} : parametersOf[provider];
	const credentials = {
		postgres: stage.postgres,
		...(provider !== 'none' && { webhookSigningSecretApi: await secretOf(stage, provider) }),
	};
	return node(
		'Gate',
		gateType,
		1,
		{ resource: 'event', operation: 'claim', provider, ...own, ...parameters, options },
		{ credentials, ...(onError !== undefined && { onError }) },
	);
}

const secrets = new Map<Provider, Promise<CredentialRef>>();

/** One credential for each provider, however many workflows use it. */
export function secretOf(stage: Stage, provider: Provider): Promise<CredentialRef> {
	const made = secrets.get(provider) ?? stage.n8n.api.createCredential('webhookSigningSecretApi', `${provider} secret`, { signingSecret: senders[provider].secret });
	secrets.set(provider, made);
	return made;
}
