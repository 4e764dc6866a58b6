import type { GateRules } from '../../src/index';
import { keyText } from './keySource';
import type { Parameters } from './parameters';
import { problems } from './problems';

/** What the event is about and how new it is; `null` where the options are not set. What cannot be compared is for the gate to refuse. */
export function readSubject(parameters: Parameters): GateRules['subject'] | null {
	const [hasKey, hasVersion] = ['options.objectKey', 'options.objectVersion'].map((name) => parameters.source(name) !== '');
	if (!hasKey && !hasVersion) return null;
	if (!hasKey || !hasVersion) throw problems.subjectIncomplete(hasKey ? 'Object Version' : 'Object Key');
	const key = keyText(parameters.value('options.objectKey', 'Object Key', ''));
	const version = versionText(parameters.value('options.objectVersion', 'Object Version', ''));
	return { key: typeof key === 'string' ? key : '', version };
}

/** A decimal number that grows with the version: of a time the milliseconds. Empty for anything else. */
export function versionText(value: unknown): string {
	if (typeof value === 'number' || typeof value === 'bigint') return String(value);
	if (typeof value === 'string') return timeVersion(value.trim()) ?? value.trim();
	// A date of JavaScript, or of n8n's expressions (Luxon).
	const ms = value !== null && typeof value === 'object' && !Array.isArray(value) ? Number(value) : NaN;
	return Number.isFinite(ms) ? String(ms) : '';
}

/** Date and time with any number of digits of a second, and UTC where no zone is named; `null` where it is no time. */
function timeVersion(text: string): string | null {
	const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d+))?\s*(Z|[+-]\d\d:?\d\d)?)?$/i.exec(text);
	if (!match) return null;
	const [, day, time = '00:00', digits = '', zone = 'Z'] = match;
	const ms = Date.parse(`${day}T${time.length === 5 ? `${time}:00` : time}.${digits.slice(0, 3).padEnd(3, '0')}${zone.toUpperCase()}`);
	if (!Number.isFinite(ms)) return null;
	// Two changes within a millisecond are told apart by those who write more digits.
	const finer = digits.slice(3, 12);
	return finer === '' ? String(ms) : `${ms}.${finer}`;
}
