import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { ClaimFilter, State, StoredClaim } from '../../../src/index';
import { openStore } from '../connect/store';
import { STATE_OPTIONS } from '../description/recordFilters';
import { recordDetails } from '../events/details';
import { Parameters } from '../parameters';
import { asNodeError, asProblem, problems } from '../problems';
import { ANY_PROVIDER } from '../recovery';

/** Lists events, newest first: one item each. */
export async function getMany(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const items = context.getInputData();
	const lists = await Promise.all(
		items.map(async (_, itemIndex) => {
			try {
				const store = await openStore(context);
				const records = await store.list(readFilter(new Parameters(context, itemIndex)));
				return records.map((record) => ({ json: fieldsOf(record), pairedItem: { item: itemIndex } }));
			} catch (thrown) {
				const problem = asProblem(thrown);
				if (!context.continueOnFail()) throw asNodeError(problem, context.getNode(), itemIndex, items.length);
				return [{ json: { error: problem.inItem, message: problem.inItem }, pairedItem: { item: itemIndex } }];
			}
		}),
	);
	return [lists.flat()];
}

/** Under the name that the other operations look under, so that Reopen or Resolve can follow. */
function fieldsOf(record: StoredClaim): IDataObject {
	return { idempotency: { ...recordDetails(record), outcome: 'found' } };
}

const MOST = 100_000;

function readFilter(parameters: Parameters): ClaimFilter {
	const all = parameters.flag('returnAll', 'Return All', false);
	const provider = parameters.text('filters.provider', 'Provider', ANY_PROVIDER);
	return {
		states: readStates(parameters),
		scope: orNull(parameters.text('filters.scopeText', 'Scope Text')),
		provider: provider === ANY_PROVIDER ? null : provider,
		eventType: orNull(parameters.text('filters.eventType', 'Event Type')),
		fromMs: readTime(parameters, 'filters.firstSeenAfter', 'First Seen After'),
		toMs: readTime(parameters, 'filters.firstSeenBefore', 'First Seen Before'),
		limit: all ? MOST : Math.trunc(parameters.number('limit', 'Limit', [1, MOST], 50)),
	};
}

function readStates(parameters: Parameters): State[] {
	const value = parameters.value('filters.states', 'States', []);
	const chosen: unknown[] = Array.isArray(value) ? value : [value];
	return STATE_OPTIONS.map(({ value: state }) => state).filter((state) => chosen.includes(state));
}

function readTime(parameters: Parameters, name: string, label: string): number | null {
	const value = parameters.value(name, label, '');
	if (value === '' || value === null || value === undefined) return null;
	// A date of n8n's expressions is an object of Luxon.
	const ms = typeof value === 'object' ? Number(value) : Date.parse(value as string);
	if (Number.isFinite(ms)) return ms;
	throw problems.parameterUnsuitable(label, 'is not a date', 'Write it like 2026-12-01T10:00:00Z');
}

function orNull(text: string): string | null {
	return text === '' ? null : text;
}
