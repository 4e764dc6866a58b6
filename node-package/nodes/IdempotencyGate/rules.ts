import type { IExecuteFunctions } from 'n8n-workflow';
import type { CustomScheme, DecidePolicy, GateRules, KeySource, Refusal } from '../../src/index';
import { CUSTOM, NONE, providerInfo } from './description/providers';
import { keyText, readKeySource } from './keySource';
import { readLeaseMs } from './lease';
import { readOutboxOption } from './outboxOption';
import type { Parameters } from './parameters';
import type { Run } from './run';
import { readScope } from './scope';
import { readSubject } from './subject';

/** How one item is to be judged. `keySource` may be a refusal: then the item has no key and is not asked about. */
export type ItemRules = Omit<GateRules, 'keySource'> & { readonly keySource: KeySource | Refusal };

/** The parameters of one item, as the library wants them. `secrets`: `null` where nothing is verified. */
export function readRules(
	context: IExecuteFunctions,
	parameters: Parameters,
	run: Run,
	secrets: readonly Uint8Array[] | null,
): ItemRules {
	const provider = parameters.text('provider', 'Provider', 'stripe');
	const keySource = readKeySource(parameters);
	const custom = provider === CUSTOM ? readScheme(parameters) : undefined;
	const eventType = parameters.note('options.eventType', 'Event Type');
	const unfinished = readUnfinished(context, parameters);
	const savePayload = readSavePayload(parameters);
	const subject = readSubject(parameters);
	const outbox = readOutboxOption(parameters);
	return {
		provider,
		...(custom && { custom }),
		verification: secrets && { secrets, ...readTolerance(parameters, run) },
		scope: readScope(context, parameters, run.test),
		keySource,
		businessKey: readBusinessKey(parameters),
		guardBody: readGuardBody(parameters, provider, custom, keySource),
		...(eventType !== '' && { eventType }),
		maxBodyBytes: parameters.number('options.bodySizeLimit', 'Body Size Limit (MB)', [0.001, 16], 5) * MEGABYTE,
		leaseMs: readLeaseMs(parameters, 'options.leaseMinutes'),
		maxAttempts: Math.trunc(parameters.number('options.maxAttempts', 'Maximum Attempts', [1, 1000], 5)),
		unfinished,
		payloadChanged: parameters.choice(
			'options.payloadChanged',
			'Payload Changed',
			['duplicate', 'reject'] as const,
			'duplicate',
		),
		policy: readPolicy(parameters),
		...(savePayload && { savePayload }),
		...(subject && { subject }),
		...(outbox.length > 0 && { outbox }),
		waitForWinnerMs: parameters.number('options.waitForWinnerSeconds', 'Wait for the Winner (Seconds)', [0, 60], 0) * 1000,
	};
}

/** True where the gate is to check the signature of this workflow's events. */
export function verifies(parameters: Parameters): boolean {
	const provider = parameters.text('provider', 'Provider', 'stripe');
	if (provider === NONE) return false;
	return provider === CUSTOM || parameters.flag('verifySignature', 'Verify Signature', true);
}

const MINUTE = 60_000;
const MEGABYTE = 1024 * 1024;

/** Tests with pinned data come long after they were signed; `executionHints.ts` says so. The core takes no more. */
const TOLERANCE_OF_TESTS_MS = 366 * 24 * 60 * MINUTE;

function readTolerance(parameters: Parameters, run: Run): { toleranceMs?: number } {
	if (run.test === 'claimed') return { toleranceMs: TOLERANCE_OF_TESTS_MS };
	const toleranceMs = toleranceOf(parameters);
	return toleranceMs === undefined ? {} : { toleranceMs };
}

/** The user's own window; `undefined` where the provider's counts. */
function toleranceOf(parameters: Parameters): number | undefined {
	const range: [number, number] = [1, 86_400];
	const seconds = parameters.number('options.timestampTolerance', 'Timestamp Tolerance (Seconds)', range, undefined);
	return seconds === undefined ? undefined : Math.round(seconds * 1000);
}

/** The window that production would use; `null` where nothing signed says when it was sent. */
export function productionToleranceMs(parameters: Parameters): number | null {
	const provider = parameters.text('provider', 'Provider', 'stripe');
	return toleranceOf(parameters) ?? providerInfo(provider)?.toleranceMs ?? (provider === CUSTOM ? 300_000 : null);
}

function readScheme(parameters: Parameters): CustomScheme {
	const option = (name: string) => `signatureOptions.${name}`;
	const idHeader = parameters.text('eventIdHeader', 'Event ID Header');
	const timestampHeader = parameters.text(option('timestampHeader'), 'Timestamp Header');
	return {
		signatureHeader: parameters.text('signatureHeader', 'Signature Header', 'X-Signature'),
		algorithm: parameters.choice('hash', 'Hash', ['sha1', 'sha256', 'sha384', 'sha512'] as const, 'sha256'),
		encoding: parameters.choice('signatureFormat', 'Signature Format', ['base64', 'base64url', 'hex'] as const, 'hex'),
		prefix: parameters.text(option('prefix'), 'Prefix'),
		timestampHeader: timestampHeader === '' ? null : timestampHeader,
		timestampUnit: parameters.choice(option('timestampUnit'), 'Timestamp Unit', ['ms', 's'] as const, 's'),
		idHeader: idHeader === '' ? null : idHeader,
		template: parameters.text(option('template'), 'Signed Text', '{body}'),
		secretEncoding: parameters.choice(
			option('secretEncoding'),
			'Secret Encoding',
			['base64', 'hex', 'utf8'] as const,
			'utf8',
		),
	};
}

/** `null` where the option is not set. Set, but without a value for this item, is for the gate to refuse. */
function readBusinessKey(parameters: Parameters): string | null {
	if (parameters.source('options.businessKey') === '') return null;
	const text = keyText(parameters.value('options.businessKey', 'Business Key', ''));
	return typeof text === 'string' ? text : '';
}

/** By default on where a captured body could come back under another id: where the signature does not cover the id. */
function readGuardBody(
	parameters: Parameters,
	provider: string,
	custom: CustomScheme | undefined,
	source: KeySource | Refusal,
): boolean {
	const ways = ['allow', 'automatic', 'duplicate'] as const;
	const way = parameters.choice('options.repeatedBodies', 'Repeated Bodies', ways, 'automatic');
	if (way !== 'automatic') return way === 'duplicate';
	if (!verifies(parameters)) return false;
	switch (source.type) {
		case 'provider':
			return custom ? !custom.template.includes('{id}') : providerInfo(provider)?.guardBody === true;
		case 'value':
			return /\bheaders\b|\bquery\b|\bparams\b/.test(parameters.source('eventId'));
		default:
			return false;
	}
}

function readUnfinished(context: IExecuteFunctions, parameters: Parameters): GateRules['unfinished'] {
	const ways = ['alwaysDuplicate', 'automatic', 'hold', 'takeOver'] as const;
	switch (parameters.choice('options.unfinishedEvents', 'Unfinished Events', ways, 'automatic')) {
		case 'alwaysDuplicate':
			return 'complete_on_claim';
		case 'hold':
			return 'hold';
		case 'takeOver':
			return 'take_over';
		case 'automatic':
			return hasCompletion(context) ? 'take_over' : 'complete_on_claim';
	}
}

/** Somebody behind this node says when an event is done; only then does silence mean that it is not. */
function hasCompletion(context: IExecuteFunctions): boolean {
	const { name, type } = context.getNode();
	return context
		.getChildNodes(name, { includeNodeParameters: true })
		.some((node) => node.type === type && !node.disabled && node.parameters?.['operation'] === 'complete');
}

function readSavePayload(parameters: Parameters): GateRules['savePayload'] | null {
	const ways = ['always', 'never', 'untilCompleted'] as const;
	const way = parameters.choice('options.savePayload', 'Save Payload for Recovery', ways, 'untilCompleted');
	if (way === 'never') return null;
	const limit = parameters.number('options.payloadSizeLimit', 'Saved Payload Size Limit (MB)', [0.001, 16], 1);
	return { keep: way === 'always' ? 'always' : 'until_completed', maxBytes: Math.round(limit * MEGABYTE) };
}

function readPolicy(parameters: Parameters): DecidePolicy {
	const way = parameters.choice('options.whileInProgress', 'While in Progress', ['accept', 'duplicate', 'rejected'] as const, 'duplicate');
	return {
		// Where nothing recovers an abandoned event, only another delivery can take it over: the sender is asked to come back.
		inProgress: way === 'accept' ? 'accept' : 'retry_later',
		needsAttention: 'accept',
		inProgressOutput: way === 'rejected' ? 'rejected' : 'duplicate',
	};
}
