import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { placeOptions } from './place';

/** One operation as the editor shows it. What it does is in the file of `operations/` with its name. */
export interface Panel {
	readonly resource: 'event' | 'outbox' | 'store';
	/** Unique over all resources: outputs and credentials depend on it alone. */
	readonly operation: string;
	/** In the list of operations. */
	readonly name: string;
	/** In the list of actions of the node panel. */
	readonly action: string;
	readonly description: string;
	/** In the order of the panel. Store and Options follow by themselves. */
	readonly fields: readonly INodeProperties[];
	/** In any order. Where the tables are is added to those of every operation. */
	readonly options: readonly INodeProperties[];
}

/** The properties of the node: Resource, Operation, the fields of each operation, Store, Options. */
export function propertiesOf(panels: readonly Panel[]): INodeProperties[] {
	return [
		resourceField(panels),
		...resources.filter(({ value }) => of(value, panels).length > 0).map(({ value }) => operationField(value, panels)),
		...panels.flatMap((panel) => panel.fields.map((field) => within(panel, field))),
		storeField,
		...panels.map(optionsField),
	];
}

const resources = [
	{ name: 'Event', value: 'event', first: 'claim' },
	{ name: 'Outbox', value: 'outbox', first: 'addMessage' },
	{ name: 'Store', value: 'store', first: 'recover' },
] as const;

function of(resource: string, panels: readonly Panel[]): Panel[] {
	return panels.filter((panel) => panel.resource === resource);
}

function resourceField(panels: readonly Panel[]): INodeProperties {
	return {
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		default: 'event',
		options: resources
			.filter(({ value }) => of(value, panels).length > 0)
			.map(({ name, value }): INodePropertyOptions => ({ name, value })),
	};
}

function operationField(resource: Panel['resource'], panels: readonly Panel[]): INodeProperties {
	const options = of(resource, panels).map(({ name, operation, action, description }): INodePropertyOptions => {
		return { name, value: operation, action, description };
	});
	return {
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		default: resources.find(({ value }) => value === resource)?.first ?? '',
		displayOptions: { show: { resource: [resource] } },
		options: options.sort((a, b) => byName(a.name, b.name)),
	};
}

/** The same for all operations: what one of them wrote another one must find. */
const storeField: INodeProperties = {
	displayName: 'Store',
	name: 'store',
	type: 'options',
	noDataExpression: true,
	default: 'postgres',
	options: [{ name: 'Postgres', value: 'postgres' }],
	description: 'Where claims are kept. The tables are created when they are missing.',
};

function optionsField(panel: Panel): INodeProperties {
	return within(panel, {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: [...panel.options, ...placeOptions].sort((a, b) => byName(a.displayName, b.displayName)),
	});
}

/** The field, for this operation only. */
function within({ resource, operation }: Panel, field: INodeProperties): INodeProperties {
	const { displayOptions } = field;
	const show = { resource: [resource], operation: [operation], ...displayOptions?.show };
	return { ...field, displayOptions: { ...displayOptions, show } };
}

function byName(a: string, b: string): number {
	return a.toLowerCase() < b.toLowerCase() ? -1 : 1;
}
