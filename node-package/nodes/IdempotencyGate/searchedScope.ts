import type { INodeProperties } from 'n8n-workflow';
import type { Parameters } from './parameters';
import { Problem } from './problems';
import type { Test } from './run';

/** Where a search looks. `tests`: in the memory of tests, where `scope` does not say it already. */
export interface SearchedScope {
	readonly scope: string | null;
	readonly tests: boolean;
}

/** What was claimed in one workflow is recovered and sent by others, so a search looks everywhere. */
export const searchedScopeOptions: INodeProperties[] = [
	{
		displayName: 'Scope',
		name: 'scope',
		type: 'options',
		noDataExpression: true,
		default: 'all',
		options: [
			{ name: 'All', value: 'all', description: 'Of every workflow that uses this store. Tests of workflows are left out.' },
			{ name: 'As Written in Items', value: 'exact', description: "The text of the field 'scope'" },
			{ name: 'Custom Name', value: 'custom', description: "Of the gates whose option 'Scope Name' has this name" },
			{ name: 'One Workflow', value: 'workflow', description: 'Of the gates of one workflow' },
		],
		description: 'Whose events or messages are looked for',
	},
	{
		displayName: 'Scope Name',
		name: 'scopeName',
		type: 'string',
		default: '',
		placeholder: 'e.g. billing',
		displayOptions: { show: { scope: ['custom'] } },
		description: "As in the option 'Scope Name' of the gate",
	},
	{
		displayName: 'Scope Text',
		name: 'scopeText',
		type: 'string',
		default: '',
		placeholder: 'e.g. workflow:Ab3',
		displayOptions: { show: { scope: ['exact'] } },
		description: "The field 'scope' of an item, unchanged",
	},
	{
		displayName: 'Workflow ID',
		name: 'workflowId',
		type: 'string',
		default: '',
		placeholder: 'e.g. Ab3',
		displayOptions: { show: { scope: ['workflow'] } },
		description: 'The last part of the address of that workflow in the editor',
	},
];

export function readSearchedScope(parameters: Parameters, test: Test): SearchedScope {
	const tests = test !== 'none';
	const named = (label: string, text: string, begin: string): SearchedScope => {
		if (text === '') throw scopeMissing(label);
		return { scope: tests ? `test:${begin}${text}` : begin + text, tests };
	};
	switch (parameters.choice('options.scope', 'Scope', ['all', 'custom', 'exact', 'workflow'] as const, 'all')) {
		case 'all':
			return { scope: null, tests };
		case 'custom':
			return named('Scope Name', parameters.text('options.scopeName', 'Scope Name'), 'custom:');
		case 'workflow':
			return named('Workflow ID', parameters.text('options.workflowId', 'Workflow ID'), 'workflow:');
		case 'exact': {
			const scope = parameters.text('options.scopeText', 'Scope Text');
			if (scope === '') throw scopeMissing('Scope Text');
			return { scope, tests };
		}
	}
}

function scopeMissing(label: string): Problem {
	return new Problem('parameter_invalid', `'${label}' is empty`, "Fill it in, or set the option 'Scope' to All");
}
