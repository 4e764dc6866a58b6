import { NodeOperationError, type INode } from 'n8n-workflow';
import { StoreError, type Admission, type ConfigurationCode } from '../../src/index';
import { NONE } from './description/providers';

/** What this shell finds wrong by itself, beside the codes of the library. */
type OwnReason =
	| 'already_ended'
	| 'always_output_data'
	| 'claim_token_invalid'
	| 'credential_unusable'
	| 'event_id_missing'
	| 'event_id_not_stable'
	| 'event_key_invalid'
	| 'event_not_found'
	| 'execute_once'
	| 'execution_missing'
	| 'fence_outdated'
	| 'gate_not_found'
	| 'guard_taken'
	| 'headers_missing'
	| 'lease_taken_over'
	| 'message_key_missing'
	| 'message_not_found'
	| 'message_token_invalid'
	| 'not_finished'
	| 'not_uncertain'
	| 'on_error_continue'
	| 'pairing_ambiguous'
	| 'pairing_lost'
	| 'parameter_invalid'
	| 'reason_missing'
	| 'second_gate'
	| 'unforeseen'
	| 'unknown_stage';

/**
 * Something that a person must put right, or a store that gave no answer. It stops the workflow; under On Error:
 * Continue the item goes to Rejected instead, never to Claimed.
 */
export class Problem extends Error {
	override readonly name = 'Problem';

	constructor(
		readonly reason: OwnReason | ConfigurationCode | StoreError['code'],
		/** What happened. */
		message: string,
		/** How to get unstuck. */
		readonly description: string,
		/** What an item may say of it, where the message names hosts or the like. */
		readonly inItem: string = message,
		options?: ErrorOptions,
	) {
		super(message, options);
	}
}

/** As n8n shows it: message, description, and the item it is about. */
export function asNodeError(problem: Problem, node: INode, itemIndex: number, items: number): NodeOperationError {
	const message = items > 1 ? `${problem.message} [item ${itemIndex}]` : problem.message;
	const { description } = problem;
	return new NodeOperationError(node, message, { itemIndex, description, level: 'warning' });
}

/** Whatever is thrown while a setting is read or a connection is made. */
export function asProblem(thrown: unknown): Problem {
	if (thrown instanceof Problem) return thrown;
	if (thrown instanceof StoreError) {
		return new Problem(thrown.code, thrown.message, thrown.help, 'The store cannot be used as it is set up');
	}
	const { message, description } = thrown as { message?: unknown; description?: unknown };
	return new Problem(
		'unforeseen',
		typeof message === 'string' && message !== '' ? message : 'The gate could not judge this event',
		typeof description === 'string' ? description : 'Trying again is safe: what was done before is not done twice.',
		'The gate could not judge this event',
		{ cause: thrown },
	);
}

/** The problem behind an answer of the gate; `null` where the answer is about the delivery. */
export function problemOf({ refusal, storeError, decision }: Admission, provider: string): Problem | null {
	if (storeError) return new Problem(storeError.code, storeError.message, storeError.help, decision.message);
	if (refusal === null) return null;
	if (refusal.type === 'misconfigured') {
		return new Problem(refusal.code as ConfigurationCode, refusal.message, refusal.help);
	}
	// No provider decides what is in the event here, so a missing ID is the workflow's doing.
	if (provider === NONE && refusal.code === 'event_id_missing') {
		return new Problem('event_id_missing', refusal.message, refusal.help);
	}
	return null;
}

export const problems = {
	alwaysOutputData: () =>
		new Problem(
			'always_output_data',
			"'Always Output Data' cannot be used with this node",
			"It would send an empty item to 'Claimed' for every duplicate. Turn it off in the node's Settings. Duplicates already have an output of their own.",
		),

	executeOnce: (items: number) =>
		new Problem(
			'execute_once',
			`'Execute Once' would drop ${items - 1} of ${items} events`,
			"Turn it off in the node's Settings",
		),

	eventIdNotStable: (found: string) =>
		new Problem(
			'event_id_not_stable',
			"'Event ID' changes with every execution",
			`It contains ${found}. Use a value from the event itself, for example {{ $json.body.id }}`,
		),

	headersMissing: () =>
		new Problem(
			'headers_missing',
			'The node before this one does not pass on the request headers',
			"Connect this node directly after a Webhook node, or turn off 'Verify Signature' if the trigger checks the signature itself",
		),

	secondGate: (other: string) =>
		new Problem(
			'second_gate',
			`This event was already claimed by '${other}' in this execution`,
			"Set the option 'Scope' of one of the two to 'This Node'",
		),

	subjectIncomplete: (missing: string) =>
		new Problem(
			'parameter_invalid',
			`'${missing}' is not set`,
			"'Object Key' and 'Object Version' go together: what the event is about, and how new it is",
		),

	credentialUnusable: (cause: Error) =>
		new Problem(
			'credential_unusable',
			cause.message,
			"Choose a credential in this node's parameters",
			'The gate has no usable credential',
			{ cause },
		),

	parameterInvalid: (name: string, cause: Error) =>
		new Problem(
			'parameter_invalid',
			`'${name}' could not be read: ${cause.message}`,
			'Check the expression of this parameter',
			`'${name}' could not be read`,
			{ cause },
		),

	parameterNotText: (name: string) =>
		new Problem(
			'parameter_invalid',
			`'${name}' is not a text`,
			'Its expression found nothing, or an object. Choose a single value that is always there',
		),

	parameterUnsuitable: (name: string, what: string, advice: string) =>
		new Problem('parameter_invalid', `'${name}' ${what}`, advice),

	resultFieldTaken: (name: string) =>
		new Problem(
			'parameter_invalid',
			`'Put Result in Field' cannot be '${name}'`,
			'This node writes something else into the field of that name. Choose another name',
		),

	parameterOutOfRange: (name: string, range: string) =>
		new Problem('parameter_invalid', `'${name}' must be ${range}`, "Change it in the node's Options"),
};
