import type { MessageEnd } from '../../../src/index';

/** What ends the lease of one message. */
export type MessageReceipt = Pick<MessageEnd, 'id' | 'owner' | 'fence'>;

/** One word without spaces, so that it can be carried in an item. */
export function encodeMessageToken({ id, owner, fence }: MessageReceipt): string {
	return Buffer.from(JSON.stringify([VERSION, id, owner, fence])).toString('base64url');
}

/** `null` for whatever `encodeMessageToken` did not write. */
export function decodeMessageToken(text: string): MessageReceipt | null {
	const fields = parsed(Buffer.from(text, 'base64url').toString());
	if (!Array.isArray(fields)) return null;
	const [, id, owner, fence] = fields as unknown[];
	if (typeof id !== 'string' || typeof owner !== 'string' || typeof fence !== 'string') return null;
	const receipt = { id, owner, fence };
	// Buffer skips what is not base64url, and JSON has more than one way to write a text.
	return encodeMessageToken(receipt) === text ? receipt : null;
}

const VERSION = 'm1';

function parsed(json: string): unknown {
	try {
		return JSON.parse(json);
	} catch {
		return null;
	}
}
