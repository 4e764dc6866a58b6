import type { INodePropertyOptions } from 'n8n-workflow';
import { loadCore, type ProviderInfo } from '../../../src/index';

/** A scheme that the user describes field by field. Not a row of the table. */
export const CUSTOM = 'custom';
/** Nothing is signed, or whatever stands before the gate has checked it. */
export const NONE = 'none';

const table: readonly ProviderInfo[] = loadCore().providers();

export function providerInfo(key: string): ProviderInfo | undefined {
	return table.find((provider) => provider.key === key);
}

export const providerOptions: INodePropertyOptions[] = [
	...table.map((provider) => ({
		name: provider.displayName,
		value: provider.key,
		description: describe(provider),
	})),
	{
		name: 'Custom (HMAC)',
		value: CUSTOM,
		description: 'Any other sender that signs with an HMAC, such as Tawk, ElevenLabs or FreeScout',
	},
].sort((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));

/** Providers that say where the event ID is. For the others the user must say. */
export const withOwnId = table.filter(({ idFrom }) => idFrom !== null).map(({ key }) => key);
export const withoutOwnId = table.filter(({ idFrom }) => idFrom === null).map(({ key }) => key);

function describe({ signatureHeaders, idFrom }: ProviderInfo): string {
	if (signatureHeaders.length === 0) return 'Not signed, or checked already by the trigger before this node';
	const signature = `Signature in ${signatureHeaders.join(' or ')}`;
	return idFrom === null ? signature : `${signature}, event ID in ${idFrom}`;
}
