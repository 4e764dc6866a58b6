import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { decodeReceipt, type EventKey, type Receipt } from '../../../src/index';
import { executionMark } from '../execution';
import type { Parameters } from '../parameters';
import type { Run } from '../run';
import { workflowId } from '../scope';
import { detailsIn, isDetails, keyIn } from './details';
import { eventProblems } from './eventProblems';
import type { Lineages } from './lineage';

/** Which event an item is about, as far as it is known without the store. */
export type Target =
	/** `gateBefore`: a gate farther up that has claimed an event for the item too. */
	| { readonly type: 'receipt'; readonly receipt: Receipt; readonly gateBefore?: string | null }
	| { readonly type: 'key'; readonly key: EventKey }
	/** Names of executions, newest first. */
	| { readonly type: 'executions'; readonly marks: readonly string[] }
	/** The item belongs to an event that nobody claimed. `letThrough`: it is handled all the same. */
	| { readonly type: 'unclaimed'; readonly letThrough: boolean; readonly key: EventKey | null };

export interface Asking {
	readonly context: IExecuteFunctions;
	readonly run: Run;
	readonly lineages: Lineages;
	/** Whose claim is to be changed. For others to look at it, a record's name is enough, and tests see production. */
	readonly asOwner: boolean;
}

/** Reads the parameter Event and those below it. Throws a `Problem`. */
export function readTarget(asking: Asking, parameters: Parameters, item: INodeExecutionData, itemIndex: number): Target {
	const ways = ['claimedBefore', 'claimToken', 'eventId', 'executionId'] as const;
	switch (parameters.choice('event', 'Event', ways, 'claimedBefore')) {
		case 'claimedBefore':
			return claimedBefore(asking, item, itemIndex);
		case 'claimToken':
			return byToken(parameters.text('claimToken', 'Claim Token'));
		case 'eventId':
			return { type: 'key', key: readKey(asking, parameters) };
		case 'executionId':
			return byExecution(asking, parameters, item);
	}
}

function claimedBefore(asking: Asking, item: INodeExecutionData, itemIndex: number): Target {
	return asking.asOwner ? ownClaim(asking.lineages, item, itemIndex) : namedEvent(asking.lineages, item, itemIndex);
}

/**
 * Whose claim is to be ended, the lineage says: a token in the item may have come from a sub-workflow that has a gate of
 * its own, or from another item in a Merge. Where the way back is lost, it is all there is. An item that went on without
 * a claim must not end the claim of a gate farther up.
 */
function ownClaim(lineages: Lineages, { json }: INodeExecutionData, itemIndex: number): Target {
	const only = onlyToken(detailsIn(json));
	const lineage = lineages.of(itemIndex);
	switch (lineage.type) {
		case 'claimed': {
			const { claimToken, endedBefore, gateBefore } = lineage;
			const isRival = only !== undefined && only !== claimToken && !endedBefore.includes(only);
			const rival = isRival ? lineages.gateOf(only) : null;
			if (rival) throw eventProblems.notFoundBefore({ type: 'ambiguous', gate: rival.name });
			return { ...byToken(claimToken), gateBefore };
		}
		case 'let_through':
		case 'unclaimed':
			return { type: 'unclaimed', letThrough: lineage.type === 'let_through', key: keyOf(lineage.details) };
		case 'ambiguous':
			throw eventProblems.notFoundBefore(lineage);
		default:
			if (only !== undefined) return byToken(only);
			throw eventProblems.notFoundBefore(lineage);
	}
}

/** What is to be looked at or handled again: the event that the item is about, as a list or a trigger gave it, else its claim's. */
function namedEvent(lineages: Lineages, { json }: INodeExecutionData, itemIndex: number): Target {
	const inItem = detailsIn(json);
	if (inItem.length === 1) return { type: 'key', key: keyIn(inItem[0] as IDataObject) };

	const lineage = lineages.of(itemIndex);
	switch (lineage.type) {
		case 'claimed':
			return byToken(lineage.claimToken);
		case 'let_through':
		case 'unclaimed': {
			const key = keyOf(lineage.details);
			return key ? { type: 'key', key } : { type: 'unclaimed', letThrough: lineage.type === 'let_through', key };
		}
		default: {
			const only = onlyToken(inItem);
			if (only !== undefined) return byToken(only);
			throw eventProblems.notFoundBefore(lineage);
		}
	}
}

/** `undefined`: there is none, or more than one. */
function onlyToken(inItem: readonly IDataObject[]): string | undefined {
	const tokens = new Set(inItem.flatMap(({ claimToken }) => (typeof claimToken === 'string' ? [claimToken] : [])));
	return tokens.size === 1 ? [...tokens][0] : undefined;
}

function keyOf(details: IDataObject | null): EventKey | null {
	return isDetails(details) ? keyIn(details) : null;
}

function byToken(text: string): Extract<Target, { type: 'receipt' }> {
	const receipt = decodeReceipt(text.trim());
	if (receipt === null) throw eventProblems.tokenInvalid();
	return { type: 'receipt', receipt };
}

function readKey(asking: Asking, parameters: Parameters): EventKey {
	const key = {
		scope: readScope(asking, parameters),
		provider: parameters.text('provider', 'Provider', 'stripe'),
		eventId: parameters.text('eventId', 'Event ID'),
	};
	const labels = { scope: 'Scope', eventId: 'Event ID' } as const;
	for (const name of ['scope', 'eventId'] as const) {
		const { length } = Buffer.from(key[name]);
		if (length === 0 || length > 512) throw eventProblems.keyIncomplete(labels[name]);
	}
	return key;
}

/** As the gate writes it, see `scope.ts`. A test of an owner's operation looks in the memory of tests, as its gate does. */
function readScope({ context, run, asOwner }: Asking, parameters: Parameters): string {
	const own = (scope: string) => (asOwner && run.test !== 'none' ? `test:${scope}` : scope);
	switch (parameters.choice('scope', 'Scope', ['custom', 'exact', 'otherWorkflow', 'workflow'] as const, 'workflow')) {
		case 'workflow':
			return own(`workflow:${workflowId(context)}`);
		case 'otherWorkflow': {
			const id = parameters.text('workflowId', 'Workflow ID');
			return id === '' ? '' : `workflow:${id}`;
		}
		case 'custom': {
			const name = parameters.text('scopeName', 'Scope Name');
			return name === '' ? '' : own(`custom:${name}`);
		}
		case 'exact':
			return parameters.text('scopeText', 'Scope Text');
	}
}

/** A retried execution goes on with the claims of the one that it repeats. */
function byExecution({ context }: Asking, parameters: Parameters, { json }: INodeExecutionData): Target {
	const executionId = parameters.text('executionId', 'Execution ID').trim();
	if (executionId === '') throw eventProblems.executionMissing();
	const workflow = parameters.text('executionWorkflowId', 'Workflow ID') || workflowId(context);
	const { id, retryOf } = (json['execution'] ?? {}) as { id?: unknown; retryOf?: unknown };
	const repeated = String(id) === executionId && (typeof retryOf === 'string' || typeof retryOf === 'number');
	const ids = repeated ? [executionId, String(retryOf)] : [executionId];
	return { type: 'executions', marks: ids.map((one) => executionMark(one, workflow)) };
}
