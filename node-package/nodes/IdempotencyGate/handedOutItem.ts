import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { encodeReceipt, type EventKey, type Payload } from '../../src/index';
import { isoTime, keyDetails } from './events/details';
import { executionIdIn } from './execution';

/** A claim that this node has taken over without a delivery having come in. */
export interface HandedOut {
	readonly outcome: 'reopened' | 'retried' | 'taken_over';
	readonly key: EventKey;
	/** `null`, as its fence, where the claim is only shown to a person who builds a workflow. */
	readonly owner: string | null;
	readonly fence: string | null;
	readonly attempt: number;
	readonly stage: string | null;
	readonly eventType: string | null;
	readonly firstSeenAtMs: number | null;
	readonly leaseUntilMs: number | null;
	/** Of the attempt before, or why a person had it handled again. */
	readonly error: string | null;
	readonly executionIdBefore: string | null;
	/** `null`: nothing was saved. */
	readonly payload: Payload | null;
}

/** The delivery as the Webhook node gave it to the gate, as far as it was saved, with the claim as the gate adds it. */
export function handedOutItem(claim: HandedOut, resultField = 'idempotency'): INodeExecutionData {
	const { payload } = claim;
	return {
		json: { ...(payload && requestOf(payload)), claimed: true, [resultField]: handedOutDetails(claim) },
		...(payload && { binary: rawBodyOf(payload) }),
	};
}

/** What the item says of the claim. With the receipt for its end, and no other secret. */
export function handedOutDetails(claim: HandedOut): IDataObject {
	const { key, owner, fence } = claim;
	return {
		outcome: claim.outcome,
		...keyDetails(key),
		eventType: claim.eventType,
		status: 'processing',
		attempt: claim.attempt,
		stage: claim.stage,
		firstSeenAt: isoTime(claim.firstSeenAtMs),
		leaseUntil: isoTime(claim.leaseUntilMs),
		...(owner !== null && fence !== null && { fence, claimToken: encodeReceipt({ key, owner, fence }) }),
		executionIdBefore: executionIdIn(claim.executionIdBefore),
		// Not `error`: with it at the top of an item, n8n takes the item for a failed one.
		lastError: claim.error,
		payloadSaved: claim.payload !== null,
		test: key.scope.startsWith('test:'),
	};
}

/** `headers` and `body` as the Webhook node gives them: of a request without a body there is no `body`. */
export function requestOf(payload: Payload): IDataObject {
	const headers = headersOf(payload);
	if (payload.body.byteLength === 0) return { headers };
	return { headers, body: parsed(Buffer.from(payload.body).toString(), contentTypeOf(payload)) as IDataObject };
}

/** The bytes as received, where the Webhook node puts them with the option Raw Body. */
export function rawBodyOf(payload: Payload): NonNullable<INodeExecutionData['binary']> {
	return {
		data: { data: Buffer.from(payload.body).toString('base64'), mimeType: contentTypeOf(payload) ?? 'application/octet-stream' },
	};
}

/** One text for each name, a list where a header came more than once. */
function headersOf({ headers }: Payload): IDataObject {
	const byName = new Map<string, string[]>();
	for (const [name, value] of headers) byName.set(name, [...(byName.get(name) ?? []), value]);
	return Object.fromEntries([...byName].map(([name, values]) => [name, values.length === 1 ? (values[0] as string) : values]));
}

/** Without its parameters, in lower case. */
function contentTypeOf({ headers }: Payload): string | null {
	const [, type] = headers.find(([name]) => name.toLowerCase() === 'content-type') ?? [];
	return type === undefined ? null : (type.split(';')[0] as string).trim().toLowerCase() || null;
}

function parsed(text: string, contentType: string | null): unknown {
	if (contentType === 'application/x-www-form-urlencoded') return formFields(text);
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

function formFields(text: string): IDataObject {
	const fields = new URLSearchParams(text);
	return Object.fromEntries(
		[...new Set(fields.keys())].map((name) => {
			const values = fields.getAll(name);
			return [name, values.length === 1 ? (values[0] as string) : values];
		}),
	);
}
