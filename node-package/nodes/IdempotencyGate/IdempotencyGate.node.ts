import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';
import { webhookSigningSecretTest } from './credentialTest';
import { nodeHints } from './description/hints';
import { properties, withoutSignature } from './description/operations';
import { configuredOutputs } from './description/outputs';
import { NONE } from './description/providers';
import { operationOf } from './operations';

/** Lets the first delivery of each event through. What it does is in `operations/`, one file each. */
export class IdempotencyGate implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Idempotency Gate',
		name: 'idempotencyGate',
		icon: { light: 'file:idempotencyGate.svg', dark: 'file:idempotencyGate.dark.svg' },
		group: ['transform'],
		version: [1],
		subtitle:
			'={{ $parameter["operation"] === "claim" ? "Claim: " + $parameter["provider"] : $parameter["operation"] + ": " + $parameter["resource"] }}',
		description:
			'Let only the first delivery of each event through: verify its signature, claim its key, route duplicates away',
		defaults: { name: 'Idempotency Gate' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: `={{(${configuredOutputs})($parameter)}}`,
		// n8n's editor takes a field that a credential is shown by for the one that chooses between credentials, and then
		// offers only those; so none of them is shown by a field, and each has a name of its own.
		credentials: [
			{
				name: 'webhookSigningSecretApi',
				displayName: 'Signing Secret',
				required: true,
				testedBy: 'webhookSigningSecretTest',
				displayOptions: { hide: { operation: withoutSignature, provider: [NONE], verifySignature: [false] } },
			},
			{
				name: 'postgres',
				displayName: 'Postgres',
				required: true,
			},
		],
		hints: nodeHints,
		builderHint: {
			searchHint:
				"Place directly after the Webhook node. Claim has three outputs: 0 Claimed, 1 Duplicate, 2 Rejected. Wire the business nodes to Claimed only and end them with the operation Complete, which finds the claim by itself. Set the Webhook option 'Raw Body' to true.",
		},
		// An authorisation header passes through with the item; the tokens end the claim or the lease of a message.
		sensitiveOutputFields: ['headers.authorization', 'headers.cookie', 'idempotency.claimToken', 'outbox.messageToken'],
		properties,
	};

	methods = { credentialTest: { webhookSigningSecretTest } };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await operationOf(this)(this);
	}
}
