import type { INodeProperties } from 'n8n-workflow';

/** Of the node that failed, by its error output; or of the execution that failed, by an Error Trigger. */
export const FAILURE = '={{ $json.error?.message ?? $json.execution?.error?.message ?? $json.error ?? "" }}';

export function reasonField(description: string, reason: string): INodeProperties {
	return {
		displayName: 'Reason',
		name: 'reason',
		type: 'string',
		default: reason,
		placeholder: 'e.g. The bank did not answer',
		description: `${description}. What looks like a secret is left out, and at most 500 characters are kept.`,
	};
}

export function leaseField(description: string): INodeProperties {
	return {
		displayName: 'Lease (Minutes)',
		name: 'leaseMinutes',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 15,
		description,
	};
}

export const retryAfterOption: INodeProperties = {
	displayName: 'Retry After (Minutes)',
	name: 'retryAfterMinutes',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 5,
	description: 'How long the event waits. Without this option up to a minute at first, and up to an hour later.',
};

export const resultFieldOption: INodeProperties = {
	displayName: 'Put Result in Field',
	name: 'resultField',
	type: 'string',
	default: 'idempotency',
	description: 'The name of the output field with the details',
};
