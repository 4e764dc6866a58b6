import type { IExecuteFunctions } from 'n8n-workflow';
import type { Parameters } from './parameters';
import type { Test } from './run';

/** Who shares the memory of events. Tests have one of their own, so that they cannot use up a real event. */
export function readScope(context: IExecuteFunctions, parameters: Parameters, test: Test): string {
	const scope = scopeOf(context, parameters);
	return test === 'none' ? scope : `test:${scope}`;
}

function scopeOf(context: IExecuteFunctions, parameters: Parameters): string {
	const workflow = workflowId(context);
	switch (parameters.choice('options.scope', 'Scope', ['custom', 'node', 'workflow'] as const, 'workflow')) {
		case 'workflow':
			return `workflow:${workflow}`;
		case 'node':
			return `node:${workflow}:${context.getNode().id}`;
		case 'custom': {
			const name = parameters.text('options.scopeName', 'Scope Name');
			// Without a name all gates that forgot it would share one memory; the core refuses an empty scope.
			return name === '' ? '' : `custom:${name}`;
		}
	}
}

export function workflowId(context: Pick<IExecuteFunctions, 'getWorkflow'>): string {
	return context.getWorkflow().id ?? 'unsaved';
}
