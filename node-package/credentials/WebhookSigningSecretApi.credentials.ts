import type { Icon, ICredentialType, INodeProperties } from 'n8n-workflow';

/** The secret that a provider signs its webhook requests with. Tested by the node, see `credentialTest.ts`. */
export class WebhookSigningSecretApi implements ICredentialType {
	name = 'webhookSigningSecretApi';

	displayName = 'Webhook Signing Secret API';

	icon: Icon = {
		light: 'file:../nodes/IdempotencyGate/idempotencyGate.svg',
		dark: 'file:../nodes/IdempotencyGate/idempotencyGate.dark.svg',
	};

	documentationUrl = 'https://github.com/idempotency-gate/n8n-nodes-idempotency-gate#signing-secret';

	properties: INodeProperties[] = [
		{
			displayName: 'Signing Secret',
			name: 'signingSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			hint: 'For Stripe it starts with whsec_',
			description: "Copy it from the page of the webhook in the provider's dashboard",
		},
		{
			displayName: 'Previous Signing Secret',
			name: 'previousSigningSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description: 'Keep the old one here while you roll the secret',
		},
	];
}
