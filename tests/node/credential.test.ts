import type { ICredentialTestFunction, ICredentialType, INodeType } from 'n8n-workflow';
import { describe, expect, it } from 'vitest';
import { load } from './engine';

const node = load('dist/nodes/IdempotencyGate/IdempotencyGate.node.js', 'IdempotencyGate') as INodeType;
const credential = load('dist/credentials/WebhookSigningSecretApi.credentials.js', 'WebhookSigningSecretApi') as ICredentialType;
const test = node.methods!.credentialTest!['webhookSigningSecretTest']!;

const check = (data: Record<string, string>) =>
	(test as ICredentialTestFunction).call({} as never, { id: '1', name: 'Stripe', type: credential.name, data });

describe('the credential test', () => {
	it('belongs to the credential', () => {
		const [described] = node.description.credentials!.filter(({ name }) => name === credential.name);
		expect(described!.testedBy).toBe('webhookSigningSecretTest');
	});

	it('says that only the form was looked at', async () => {
		expect(await check({ signingSecret: 'whsec_3c4a9e5f0b7d4d1c', previousSigningSecret: '' })).toEqual({
			status: 'OK',
			message: 'Looks right. It is checked against real requests when one arrives',
		});
	});

	it.each([
		['nothing', '', ''],
		['blanks', '   ', ''],
		['a placeholder', 'undefined', ''],
		['an expression that was not evaluated', '={{ $env.SECRET }}', ''],
		['a placeholder as the previous one', 'whsec_3c4a9e5f0b7d4d1c', '[object Object]'],
	])('refuses %s', async (_what, signingSecret, previousSigningSecret) => {
		const { status, message } = await check({ signingSecret, previousSigningSecret });
		expect(status).toBe('Error');
		expect(message).toMatch(/^(Previous )?Signing Secret: /);
	});
});
