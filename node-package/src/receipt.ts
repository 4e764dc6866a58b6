import type { EventKey } from './store/store';

/** What an owner shows to end, extend or advance its claim: nothing has to be looked up. */
export interface Receipt {
	readonly key: EventKey;
	/** The owner token of the claim. */
	readonly owner: string;
	/** Decimal digits of a 64-bit number. */
	readonly fence: string;
}

/** A receipt as one word without spaces, fit for an item, a URL or a header: base64url of a JSON array. */
export function encodeReceipt({ key, owner, fence }: Receipt): string {
	const fields = [VERSION, key.scope, key.provider, key.eventId, owner, fence];
	return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/** `null` for whatever `encodeReceipt` did not write: a receipt with a typing error is none, never somebody else's. */
export function decodeReceipt(text: string): Receipt | null {
	if (text.length > LONGEST) return null;
	const fields = parsed(Buffer.from(text, 'base64url').toString());
	if (!Array.isArray(fields) || !fields.slice(1).every((field) => typeof field === 'string')) return null;
	const [version, scope, provider, eventId, owner, fence] = fields as [unknown, ...string[]];
	if (version !== VERSION || !scope || !provider || !eventId || !isToken(owner) || !isFence(fence)) return null;
	const receipt: Receipt = { key: { scope, provider, eventId }, owner, fence };
	// Buffer skips what is not base64url and replaces what is not UTF-8; JSON has more than one way to write a text.
	return encodeReceipt(receipt) === text ? receipt : null;
}

const VERSION = 1;

/** Far above three fields of 512 bytes with every character escaped. */
const LONGEST = 16_384;

const LARGEST_FENCE = 2n ** 63n - 1n;

function isToken(text: string | undefined): text is string {
	return text !== undefined && /^[0-9a-f]{32}$/.test(text);
}

function isFence(text: string | undefined): text is string {
	return text !== undefined && /^[1-9][0-9]{0,18}$/.test(text) && BigInt(text) <= LARGEST_FENCE;
}

function parsed(json: string): unknown {
	try {
		return JSON.parse(json);
	} catch {
		return null;
	}
}
