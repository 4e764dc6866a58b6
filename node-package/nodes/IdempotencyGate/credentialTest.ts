import type { ICredentialsDecrypted, ICredentialTestFunctions, INodeCredentialTestResult } from 'n8n-workflow';
import { loadCore } from '../../src/index';
import { CUSTOM } from './description/providers';

/** Checks the form of the secrets. Which provider they are for is known only to the nodes that use the credential. */
export async function webhookSigningSecretTest(
	this: ICredentialTestFunctions,
	{ data }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	const core = loadCore();
	const secrets: Array<[name: string, value: unknown]> = [['Signing Secret', data?.['signingSecret']]];
	if (data?.['previousSigningSecret']) secrets.push(['Previous Signing Secret', data['previousSigningSecret']]);
	for (const [name, value] of secrets) {
		const answer = core.checkSecret(CUSTOM, new TextEncoder().encode(typeof value === 'string' ? value : ''));
		if (answer.type !== 'ok') return { status: 'Error', message: `${name}: ${answer.message}. ${answer.help}` };
	}
	return { status: 'OK', message: 'Looks right. It is checked against real requests when one arrives' };
}
