import type { ClaimMessage } from '../../src/index';
import type { Parameters } from './parameters';
import { problems } from './problems';

/** The messages of the option Outbox Message, stored in one transaction with the claim or its end. */
export function readOutboxOption(parameters: Parameters): ClaimMessage[] {
	const entries = parameters.value('options.outboxMessage.messages', 'Outbox Message', []);
	return (Array.isArray(entries) ? entries : []).map((entry) => messageOf(entry as Record<string, unknown>));
}

/** A message as its fields say. Throws a `Problem`. */
export function messageOf({ topic, body, messageKey, orderingKey }: Record<string, unknown>): ClaimMessage {
	const name = textOf(topic, 'Topic');
	if (name === '') throw problems.parameterUnsuitable('Topic', 'is empty', "Say in a word what the message is about, for example 'receipt'");
	return {
		topic: name,
		body: jsonOf(body),
		messageKey: textOf(messageKey, 'Message Key') || null,
		orderingKey: textOf(orderingKey, 'Ordering Key') || null,
	};
}

function textOf(value: unknown, label: string): string {
	if (value === undefined || value === null || value === '') return '';
	if (typeof value === 'string' || typeof value === 'number') return String(value);
	throw problems.parameterNotText(label);
}

/** A text is JSON already; anything else that an expression gives becomes it. */
function jsonOf(value: unknown): string {
	if (typeof value !== 'string') return JSON.stringify(value ?? null);
	try {
		JSON.parse(value);
	} catch {
		throw problems.parameterUnsuitable('Body', 'is not JSON', 'Give an object, a list, a number, or a text in double quotes');
	}
	return value;
}
