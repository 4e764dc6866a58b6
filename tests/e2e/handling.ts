/** Workflows in which a claim lives: Webhook, Idempotency Gate, a call to a payment service, Complete. */
import { deliver } from '../../scripts/deliveries/burst.mjs';
import { stripe } from '../../scripts/deliveries/senders.mjs';
import { gateType, triggerType } from '../../scripts/n8n/template.mjs';
import { freshPath, type Published, type Stage } from '../harness/stage';
import { node, post, respond, webhook, workflow, type CredentialRef, type Node, type Settings } from '../harness/workflows';
import { secretOf } from './gates';

export interface Handling {
	/** Where to charge. */
	readonly chargeUrl?: string;
	/** Options of the gate. */
	readonly options?: Record<string, unknown>;
	/** Nodes of ours between the charge and the end; the last one ends the claim. Default: Complete. */
	readonly chain?: readonly Node[];
	readonly postgres?: CredentialRef;
	/** Of the gate, and of all nodes that `ours` makes. */
	readonly node?: Settings;
	/** Of the workflow. */
	readonly settings?: Record<string, unknown>;
}

export async function publishHandling(stage: Stage, handling: Handling = {}): Promise<Published> {
	const { chargeUrl, options = {}, postgres = stage.postgres, node: common, settings } = handling;
	const path = freshPath('handling');
	const credentials = { postgres, webhookSigningSecretApi: await secretOf(stage, 'stripe') };
	const gate = node('Gate', gateType, 1, { resource: 'event', operation: 'claim', provider: 'stripe', options: { unfinishedEvents: 'takeOver', ...options } }, { ...common, credentials });
	const chain = handling.chain ?? [ours(stage, 'complete', {}, handling)];
	const middle = [...(chargeUrl === undefined ? [] : [charge(chargeUrl)]), ...chain];
	const names = ['Gate', ...middle.map(({ name }) => name), 'Claimed'];
	const made = workflow(`Handling ${path}`, [webhook(path, { rawBody: true }), gate, ...middle, respond('Claimed'), respond('Duplicate'), respond('Rejected')], [
		['Webhook', 'Gate'],
		...names.slice(1).map((name, at) => [names[at]!, name] as const),
		['Gate', 'Duplicate', 1],
		['Gate', 'Rejected', 2],
	]);
	return await stage.publish({ ...made, ...(settings && { settings }) });
}

/** A workflow that takes over what another one left behind. */
export async function publishRecovery(stage: Stage, workflowId: string, chargeUrl: string): Promise<Published> {
	const options = { scope: 'workflow', workflowId };
	const trigger = node('Trigger', triggerType, 1, { pollTimes: { item: [{ mode: 'everyMinute' }] }, triggerOn: 'unfinishedEvents', options }, { credentials: { postgres: stage.postgres } });
	const nodes = [trigger, charge(chargeUrl), ours(stage, 'complete')];
	return await stage.publish(workflow(`Recovery of ${workflowId}`, nodes, [['Trigger', 'Charge'], ['Charge', 'complete']]));
}

/** A node of ours, named as its operation. */
export function ours(stage: Stage, operation: string, parameters: Record<string, unknown> = {}, { postgres = stage.postgres, node: common }: Pick<Handling, 'postgres' | 'node'> = {}): Node {
	return node(operation, gateType, 1, { resource: 'event', operation, options: {}, ...parameters }, { ...common, credentials: { postgres } });
}

export function charge(url: string): Node {
	return post('Charge', url, '={{ JSON.stringify({ order: $json.body.data.object.id }) }}', '={{ $json.idempotency.idempotencyKey }}-charge');
}

/** n8n asks its polling triggers when a workflow is published. What they find runs in the background. */
export async function look({ n8n }: Stage, workflowId: string): Promise<void> {
	await n8n.api.deactivate(workflowId);
	await n8n.api.activate(workflowId);
}

export const stripeEvent = (id: string) => stripe.request({ id });

/** Delivers, and does not mind that nobody answers. */
export async function deliverInVain(url: string, id: string): Promise<'answered' | 'lost'> {
	return await deliver(url, stripeEvent(id)).then(
		() => 'answered' as const,
		() => 'lost' as const,
	);
}
