import type { NodeHint } from 'n8n-workflow';

export const nodeHints: NodeHint[] = [
	{
		message: 'In Observe mode nothing is stopped: duplicates and forged requests go to Claimed too',
		displayCondition: '={{ $parameter["options"]["mode"] === "observe" }}',
		type: 'warning',
		whenToDisplay: 'always',
		location: 'outputPane',
	},
	{
		message:
			"The answer of this node reaches the sender only if 'Respond' of the Webhook node is set to 'Using Respond to Webhook Node'",
		displayCondition:
			'={{ ["duplicatesAndRejected", "rejected"].includes($parameter["options"]["respondToWebhook"]) }}',
		whenToDisplay: 'beforeExecution',
		location: 'outputPane',
	},
	{
		message: 'Without a signature check, anybody who knows the address of the webhook can send events',
		displayCondition: '={{ $parameter["verifySignature"] === false }}',
		whenToDisplay: 'beforeExecution',
		location: 'outputPane',
	},
];
