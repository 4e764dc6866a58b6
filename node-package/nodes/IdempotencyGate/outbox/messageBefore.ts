import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { pairedItem } from '../events/lineage';
import type { Parameters } from '../parameters';
import { OUTBOX } from './messageItem';
import { decodeMessageToken, type MessageReceipt } from './messageToken';
import { outboxProblems } from './outboxProblems';

/**
 * Which message an item is about: by the parameter Message. `null`: one that was only shown. Throws a `Problem`.
 */
export function readMessage(context: IExecuteFunctions, parameters: Parameters, itemIndex: number): MessageReceipt | null {
	const ways = ['before', 'messageToken'] as const;
	const way = parameters.choice('message', 'Message', ways, 'before');
	const token = way === 'before' ? tokenBefore(context, itemIndex) : parameters.text('messageToken', 'Message Token').trim();
	if (token === SHOWN) return null;
	const receipt = decodeMessageToken(token);
	if (receipt === null) throw outboxProblems.tokenInvalid();
	return receipt;
}

/** The item's own token, or that of the item which it stems from: the node that sends a message seldom passes it on. */
function tokenBefore(context: IExecuteFunctions, itemIndex: number): string {
	const own = tokenIn(context.getInputData()[itemIndex]);
	if (own !== null) return own;
	const before = nodesBefore(context).map((name) => {
		const proxy = context.getWorkflowDataProxy(itemIndex);
		return pairedItem(context, () => (proxy['$'] as (name: string) => { item: INodeExecutionData })(name).item);
	});
	const lost = before.flatMap((item) => (item !== null && item !== 'ambiguous' && 'lostAt' in item ? [item.lostAt as string] : []));
	const tokens = new Set(before.flatMap((item) => (item !== null && typeof item === 'object' && 'json' in item ? (tokenIn(item) ?? []) : [])));
	const [token] = tokens;
	if (tokens.size > 1 || (token === undefined && before.includes('ambiguous'))) throw outboxProblems.severalBefore();
	if (token !== undefined) return token;
	throw lost[0] === undefined ? outboxProblems.noneBefore() : outboxProblems.pairingLost(lost[0]);
}

/** Names of the nodes that hand out messages. */
function nodesBefore(context: IExecuteFunctions): string[] {
	const { name, type } = context.getNode();
	const gateType = type.replace(/Tool$/, '');
	const parents = context.getParentNodes(name, { includeNodeParameters: true });
	const handingOut = parents.filter(({ type: other, parameters, disabled }) => {
		return !disabled && (other === `${gateType}Trigger` || (other === gateType && parameters?.['operation'] === 'getNextMessages'));
	});
	return handingOut.map((node) => node.name);
}

function tokenIn(item: INodeExecutionData | undefined): string | null {
	const details = item?.json[OUTBOX] as { messageToken?: unknown } | null | undefined;
	const token = typeof details === 'object' ? details?.messageToken : undefined;
	if (token === null) return SHOWN;
	return typeof token === 'string' ? token : null;
}

/** In place of the token of a message that a trigger showed to the person who is building the workflow. */
const SHOWN = 'shown';
