import {
	NodeConnectionTypes,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
} from 'n8n-workflow';
import { properties } from './description';
import { poll } from './poll';

/** Starts a workflow when there is something to recover, to send or to tell a person about, and only then. */
export class IdempotencyGateTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Idempotency Gate Trigger',
		name: 'idempotencyGateTrigger',
		icon: { light: 'file:../IdempotencyGate/idempotencyGate.svg', dark: 'file:../IdempotencyGate/idempotencyGate.dark.svg' },
		group: ['trigger'],
		version: [1],
		subtitle:
			'={{ { deadLetters: "Dead Letters", outboxMessages: "Outbox Messages", unfinishedEvents: "Stale or Failed Events" }[$parameter["triggerOn"]] }}',
		description: 'Starts the workflow when events are stale, failed or dead, or messages of the outbox are due',
		defaults: { name: 'Idempotency Gate Trigger' },
		polling: true,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'postgres', displayName: 'Postgres', required: true }],
		builderHint: {
			searchHint:
				"Starts workflows that recover events ('Stale or Failed Events'; end them with Idempotency Gate, Complete), send outbox messages (end them with Mark Sent) or report dead letters.",
		},
		sensitiveOutputFields: ['headers.authorization', 'headers.cookie', 'idempotency.claimToken', 'outbox.messageToken'],
		properties,
	};

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await poll(this);
	}
}
