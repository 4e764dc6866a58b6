import type { KeySource, Refusal } from '../../src/index';
import type { Parameters } from './parameters';
import { problems } from './problems';

/** Where the event key comes from, or why this delivery has none. */
export function readKeySource(parameters: Parameters): KeySource | Refusal {
	const ways = ['bodyHash', 'expression', 'header', 'provider', 'timeSlot'] as const;
	switch (parameters.choice('eventIdFrom', 'Event ID From', ways, 'provider')) {
		case 'provider':
		case 'header':
			return { type: 'provider' };
		case 'expression':
			return readValue(parameters);
		case 'bodyHash':
			return { type: 'body_digest', exclude: pointers(parameters.text('ignoredFields', 'Fields to Ignore')) };
		case 'timeSlot':
			return { type: 'time_slot', slotMs: parameters.number('slotLength', 'Slot Length', [1, 86_400], 3600) * 1000 };
	}
}

function readValue(parameters: Parameters): KeySource | Refusal {
	const unstable = UNSTABLE.exec(parameters.source('eventId'));
	if (unstable) throw problems.eventIdNotStable(unstable[0]);

	const value = parameters.value('eventId', 'Event ID', '');
	const parts = (Array.isArray(value) ? value : [value]).map(keyText);
	const refusal = parts.find((part) => typeof part !== 'string');
	return refusal ?? { type: 'value', parts: parts as string[] };
}

/** What is another value at every delivery, so that no duplicate would ever be seen. */
const UNSTABLE = /\$execution\.(id|resumeUrl|resumeFormUrl)|\$runIndex|Math\.random|Date\.now/;

/** The text of one value of a key. Empty texts go on to the core, which knows what to say. */
export function keyText(value: unknown): string | Refusal {
	if (value === null || value === undefined) return '';
	if (typeof value === 'string') return value;
	if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) return String(value);
	return Number.isInteger(value) ? INEXACT : UNSUITABLE;
}

const UNSUITABLE: Refusal = {
	type: 'rejected',
	code: 'event_id_invalid',
	message: 'The event ID is neither a text nor a whole number',
	help: "Choose a single value of the event in 'Event ID', not an object or a yes/no value.",
};

const INEXACT: Refusal = {
	type: 'rejected',
	code: 'event_id_invalid',
	message: 'The event ID is a number that JavaScript cannot hold exactly',
	help: "Two such IDs may look the same once n8n has read them. Set 'Event ID From' to Provider or Body Hash, which read the raw body.",
};

/** `a.b, c` and `/a/b` alike, as JSON pointers. */
function pointers(list: string): string[] {
	return list
		.split(/,\s*/)
		.map((path) => path.trim())
		.filter((path) => path !== '')
		.map((path) => (path.startsWith('/') ? path : `/${path.split('.').map(escaped).join('/')}`));
}

function escaped(name: string): string {
	return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
