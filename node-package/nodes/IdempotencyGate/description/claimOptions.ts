import type { INodeProperties } from 'n8n-workflow';
import { outboxOption } from './outboxOption';

/** Options of Claim, in alphabetical order. Each is absent until the user adds it; `rules.ts` knows the defaults too. */
export const claimOptions: INodeProperties[] = [
	{
		displayName: 'Body Size Limit (MB)',
		name: 'bodySizeLimit',
		type: 'number',
		typeOptions: { minValue: 0.001, maxValue: 16 },
		default: 5,
		description: "Larger requests go to 'Rejected'",
	},
	{
		displayName: 'Business Key',
		name: 'businessKey',
		type: 'string',
		default: '',
		placeholder: 'e.g. {{ $json.body.type }}:{{ $json.body.data.object.id }}',
		description:
			'A second key, for one fact that may be reported by several events. If another event holds it already, this one goes to Duplicate.',
	},
	{
		displayName: 'Event Type',
		name: 'eventType',
		type: 'string',
		default: '',
		placeholder: 'e.g. {{ $json.body.type }}',
		description: 'For search and statistics. Where it is empty, the type that the provider names is used.',
	},
	{
		displayName: 'Input Data Field Name',
		name: 'inputDataFieldName',
		type: 'string',
		default: 'data',
		hint: 'The name of the input field with the raw body',
		description: "The Webhook node calls it 'data'",
	},
	{
		displayName: 'Lease (Minutes)',
		name: 'leaseMinutes',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 15,
		description: 'How long handling may take before the event counts as stale',
	},
	{
		displayName: 'Maximum Attempts',
		name: 'maxAttempts',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 5,
		description: 'How many times an unfinished event is handed out before it is given up',
	},
	{
		displayName: 'Mode',
		name: 'mode',
		type: 'options',
		// A value from the event must not be able to open the gate.
		noDataExpression: true,
		default: 'enforce',
		options: [
			{ name: 'Enforce', value: 'enforce' },
			{
				name: 'Observe',
				value: 'observe',
				description: "Everything goes to Claimed, forged requests too. The field 'observed' says what would have happened.",
			},
		],
		description: 'Whether items are stopped. Observe is for trying the gate out in a workflow that is in use.',
	},
	{
		displayName: 'Object Key',
		name: 'objectKey',
		type: 'string',
		default: '',
		placeholder: 'e.g. {{ $json.body.data.object.id }}',
		description:
			"What the event is about, such as one subscription. With 'Object Version', an event that is older than the newest completed one about the same object goes to Duplicate.",
	},
	{
		displayName: 'Object Version',
		name: 'objectVersion',
		type: 'string',
		default: '',
		placeholder: 'e.g. {{ $json.body.data.object.updated_at }}',
		description: 'A number or a time that grows with every change of the object. Events that are equally new are let through.',
	},
	outboxOption,
	{
		displayName: 'Output',
		name: 'output',
		type: 'options',
		noDataExpression: true,
		default: 'separate',
		options: [
			{ name: 'Separate Outputs', value: 'separate', description: 'Claimed, Duplicate and Rejected' },
			{
				name: 'Single Output',
				value: 'single',
				description: "Everything on one output. Route on the field 'claimed'.",
			},
		],
		description: 'How the items leave this node',
	},
	{
		displayName: 'Payload Changed',
		name: 'payloadChanged',
		type: 'options',
		noDataExpression: true,
		default: 'duplicate',
		options: [
			{ name: 'Reject', value: 'reject' },
			{ name: 'Treat as Duplicate', value: 'duplicate' },
		],
		description: 'What becomes of a delivery with a known event ID but another body',
	},
	{
		displayName: 'Put Result in Field',
		name: 'resultField',
		type: 'string',
		default: 'idempotency',
		description: "The name of the output field with the details. The field 'claimed' stays at the top.",
	},
	{
		displayName: 'Repeated Bodies',
		name: 'repeatedBodies',
		type: 'options',
		noDataExpression: true,
		default: 'automatic',
		options: [
			{ name: 'Allow', value: 'allow', description: 'Only the event ID counts' },
			{
				name: 'Automatic',
				value: 'automatic',
				description: 'Treat as duplicate where the signature does not cover the event ID, else allow',
			},
			{
				name: 'Treat as Duplicate',
				value: 'duplicate',
				description: 'A body that was seen before is a duplicate under any event ID',
			},
		],
		description:
			'What becomes of a delivery with a new event ID but a known body. Where the ID is not signed, a captured request can be sent again under another ID.',
	},
	{
		displayName: 'Respond to Webhook',
		name: 'respondToWebhook',
		type: 'options',
		noDataExpression: true,
		default: 'never',
		options: [
			{ name: 'Duplicates and Rejected', value: 'duplicatesAndRejected' },
			{ name: 'Never', value: 'never' },
			{ name: 'Rejected Only', value: 'rejected' },
		],
		description: 'Which deliveries this node answers by itself, without a Respond to Webhook node',
	},
	{
		displayName: 'Save Payload for Recovery',
		name: 'savePayload',
		type: 'options',
		noDataExpression: true,
		default: 'untilCompleted',
		options: [
			{ name: 'Always', value: 'always', description: 'Kept as long as the record of the event, so that it can be reopened with it' },
			{ name: 'Never', value: 'never', description: 'A recovered event carries its ID and no body' },
			{ name: 'Until Completed', value: 'untilCompleted' },
		],
		description:
			'How long the raw body and the headers are stored, so that an interrupted event can be handed out again as it came. Headers with secrets are left out.',
	},
	{
		displayName: 'Saved Payload Size Limit (MB)',
		name: 'payloadSizeLimit',
		type: 'number',
		typeOptions: { minValue: 0.001, maxValue: 16 },
		default: 1,
		description: 'Larger bodies are not saved',
	},
	{
		displayName: 'Scope',
		name: 'scope',
		type: 'options',
		noDataExpression: true,
		default: 'workflow',
		options: [
			{ name: 'Custom Name', value: 'custom', description: 'Shared by every gate that uses the same name' },
			{ name: 'This Node', value: 'node' },
			{ name: 'This Workflow', value: 'workflow' },
		],
		description: 'Who shares the memory of events. Two scopes that receive the same event each get it.',
	},
	{
		displayName: 'Scope Name',
		name: 'scopeName',
		type: 'string',
		default: '',
		placeholder: 'e.g. billing',
		displayOptions: { show: { scope: ['custom'] } },
		description: 'Any name. Gates with the same name share one memory.',
	},
	{
		displayName: 'Test Executions',
		name: 'testExecutions',
		type: 'options',
		noDataExpression: true,
		default: 'separateClaimed',
		options: [
			{
				name: 'Same as Production',
				value: 'production',
				description: 'A test claims the real event, and its production delivery is then a duplicate',
			},
			{
				name: 'Separate, Always Claimed',
				value: 'separateClaimed',
				description: 'Tests have a memory of their own, and duplicates go to Claimed with a hint',
			},
			{
				name: 'Separate, Real Routing',
				value: 'separateReal',
				description: 'Tests have a memory of their own, and duplicates go to Duplicate',
			},
		],
		description: 'What happens when the workflow is run from the editor',
	},
	{
		displayName: 'Timestamp Tolerance (Seconds)',
		name: 'timestampTolerance',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 300,
		description:
			'How far the signed time of a request may be from the time of its arrival, before or after. Without this option the own window of the provider counts.',
	},
	{
		displayName: 'Unfinished Events',
		name: 'unfinishedEvents',
		type: 'options',
		noDataExpression: true,
		default: 'automatic',
		options: [
			{
				name: 'Always Duplicate',
				value: 'alwaysDuplicate',
				description: 'The claim counts as completed when it is made',
			},
			{
				name: 'Automatic',
				value: 'automatic',
				description:
					"'Take Over After Lease' if the workflow completes events behind this node, else 'Always Duplicate'",
			},
			{
				name: 'Hold for a Person',
				value: 'hold',
				description: 'After the lease the event waits, its outcome being unknown',
			},
			{
				name: 'Take Over After Lease',
				value: 'takeOver',
				description: 'After the lease a redelivery goes to Claimed again',
			},
		],
		description: 'What becomes of an event whose handling was not completed',
	},
	{
		displayName: 'Wait for the Winner (Seconds)',
		name: 'waitForWinnerSeconds',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 60 },
		default: 10,
		description:
			"How long a duplicate waits for the event to be completed, if it is being handled at this moment, so that it can answer with its 'result'. Without this option it does not wait.",
	},
	{
		displayName: 'While in Progress',
		name: 'whileInProgress',
		type: 'options',
		noDataExpression: true,
		default: 'duplicate',
		options: [
			{
				name: 'Send to Duplicate',
				value: 'duplicate',
				description: 'The ready answer asks the sender to come back (409 with Retry-After)',
			},
			{
				name: 'Send to Duplicate and Accept',
				value: 'accept',
				description: 'The ready answer is 200. For workflows with a recovery behind them, or the event is lost if its handling stops.',
			},
			{ name: 'Send to Rejected', value: 'rejected', description: 'The ready answer asks the sender to come back' },
		],
		description: 'Where a delivery goes whose event is being handled at this moment',
	},
];
