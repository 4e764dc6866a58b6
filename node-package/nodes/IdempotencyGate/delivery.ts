import type { IBinaryData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { Delivery, Header } from '../../src/index';
import { problems } from './problems';

/** The request, as the Webhook node hands it on. `needsHeaders`: without them nothing can be verified. */
export async function readDelivery(
	context: IExecuteFunctions,
	itemIndex: number,
	from: { dataField: string; receivedAtMs: number; needsHeaders: boolean },
): Promise<Delivery> {
	const item = context.getInputData()[itemIndex] as INodeExecutionData;
	const headers = headersOf(item.json['headers']);
	if (headers === null && from.needsHeaders) throw problems.headersMissing();
	return {
		headers: headers ?? [],
		body: isForm(headers) ? null : await rawBody(context, item, itemIndex, from.dataField),
		receivedAtMs: from.receivedAtMs,
	};
}

/** n8n gives an object with names in lower case; a header sent twice is one text with a comma, or a list. */
function headersOf(value: unknown): Header[] | null {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
	return Object.entries(value).flatMap(([name, content]: [string, unknown]) => {
		const contents: unknown[] = Array.isArray(content) ? content : [content];
		return contents.map((one): Header => [name, typeof one === 'string' ? one : String(one)]);
	});
}

/**
 * Of a multipart request n8n keeps no raw body: its binary data are the uploaded files, under names that the sender chose.
 * One named like the raw body, with what somebody else had signed in it, would vouch for the fields beside it.
 */
function isForm(headers: readonly Header[] | null): boolean {
	const types = (headers ?? []).filter(([name]) => name.toLowerCase() === 'content-type');
	return types.some(([, type]) => /^\s*multipart\//i.test(type));
}

/** The bytes as received; `null` where the node before did not keep them. */
async function rawBody(
	context: IExecuteFunctions,
	item: INodeExecutionData,
	itemIndex: number,
	field: string,
): Promise<Uint8Array | null> {
	if (item.binary && Object.hasOwn(item.binary, field)) return await context.helpers.getBinaryDataBuffer(itemIndex, field);
	const combined = combinedFiles(context, item)?.[field];
	return combined ? await context.helpers.getBinaryDataBuffer(itemIndex, combined) : null;
}

/**
 * A workflow can be set to keep binary data within the JSON. Only then: elsewhere `_files` is whatever the sender of the
 * event wrote, and may name data of another execution.
 */
function combinedFiles(context: IExecuteFunctions, item: INodeExecutionData): Record<string, IBinaryData> | undefined {
	const { binaryMode } = context.getWorkflowSettings();
	return binaryMode === 'combined' ? (item.json['_files'] as Record<string, IBinaryData> | undefined) : undefined;
}
