/** What the node shows in the editor, against n8n's rules for wording and order. */
import type { INodeProperties, INodePropertyCollection, INodePropertyOptions, INodeType } from 'n8n-workflow';
import { describe, expect, it } from 'vitest';

const { IdempotencyGate } = require('../../node-package/dist/nodes/IdempotencyGate/IdempotencyGate.node.js') as {
	IdempotencyGate: new () => INodeType;
};
const { loadCore } = require('../../node-package/dist/index.js') as typeof import('../../node-package/src');

const { description } = new IdempotencyGate();

const { IdempotencyGateTrigger } = require('../../node-package/dist/nodes/IdempotencyGateTrigger/IdempotencyGateTrigger.node.js') as {
	IdempotencyGateTrigger: new () => INodeType;
};

/** All fields of both nodes, those within collections too. */
const properties = [...description.properties, ...new IdempotencyGateTrigger().description.properties];
const fields = properties.flatMap(function all(field: INodeProperties): INodeProperties[] {
	if (field.type === 'collection') return [field, ...((field.options ?? []) as INodeProperties[]).flatMap(all)];
	if (field.type !== 'fixedCollection') return [field];
	return [field, ...((field.options ?? []) as INodePropertyCollection[]).flatMap(({ values }) => values.flatMap(all))];
});
const named = (name: string) => fields.filter((field) => field.name === name);
const choices = fields.filter(({ type }) => type === 'options');
const optionsOf = (field: INodeProperties) => field.options as INodePropertyOptions[];

describe('order', () => {
	it('lists are alphabetical', () => {
		for (const field of choices) expect(optionsOf(field).map(({ name }) => name), field.name).toEqual(sorted(optionsOf(field).map(({ name }) => name)));
	});

	it('collections are alphabetical', () => {
		for (const field of fields.filter(({ type }) => type === 'collection')) {
			const names = (field.options as INodeProperties[]).map(({ displayName }) => displayName);
			expect(names, field.name).toEqual(sorted(names));
		}
	});

	it('Resource and Operation come first', () => {
		expect(description.properties.slice(0, 2).map(({ name }) => name)).toEqual(['resource', 'operation']);
	});
});

describe('wording', () => {
	it('names are in Title Case', () => {
		const small = new Set(['a', 'after', 'and', 'as', 'for', 'from', 'in', 'of', 'or', 'the', 'to', 'with']);
		const names = [...fields.filter(({ type }) => type !== 'notice').map(({ displayName }) => displayName), ...choices.flatMap((field) => optionsOf(field).map(({ name }) => name))];
		const wrong = names.filter((name) => name.split(/[\s(]+/).some((word, at) => /^[a-z]/.test(word) && (at === 0 || !small.has(word))));
		expect(wrong).toEqual([]);
	});

	it('one sentence takes no full stop, several take them all', () => {
		const texts = [...fields, ...choices.flatMap((field) => optionsOf(field))].flatMap(({ description: text }) => text ?? []);
		const wrong = texts.filter((text) => {
			const inner = /[.?!] [A-Z'{]/.test(text);
			return inner !== text.endsWith('.');
		});
		expect(wrong).toEqual([]);
	});

	it('toggles begin with "Whether", placeholders with "e.g."', () => {
		for (const field of fields.filter(({ type }) => type === 'boolean')) expect(field.description).toMatch(/^Whether /);
		const placeholders = fields.filter(({ type }) => !/collection/i.test(type)).flatMap(({ placeholder }) => placeholder ?? []);
		expect(placeholders.filter((text) => !text.startsWith('e.g. '))).toEqual([]);
	});

	it('credentials are told apart by name, and none is shown by a field: the editor would not offer the others', () => {
		const credentials = description.credentials ?? [];
		expect(credentials.map(({ displayName }) => displayName)).toEqual(['Signing Secret', 'Postgres']);
		expect(credentials.filter(({ displayOptions }) => displayOptions?.show)).toEqual([]);
	});

	it('operations say what they do to what', () => {
		for (const field of named('operation')) {
			for (const option of optionsOf(field)) {
				expect(option.action).toMatch(/^[A-Z][a-z]+ ([a-z]+ ?)+$/);
				expect(option.action).not.toMatch(/\b(a|an|the)\b/);
				expect(option.description).toBeTruthy();
			}
		}
	});

	it('every field but a notice is described or explained by a hint', () => {
		const mute = fields.filter(({ type, name, description: text, hint }) => !text && !hint && type !== 'notice' && type !== 'collection' && !['resource', 'operation'].includes(name));
		expect(mute.map(({ name }) => name)).toEqual([]);
	});
});

describe('every operation', () => {
	const lists = description.properties.filter(({ name }) => name === 'operation');
	const operations = lists.flatMap((list) => optionsOf(list).map(({ value }) => ({ resource: list.displayOptions!.show!['resource']![0] as string, operation: value as string })));
	const shownFor = (property: INodeProperties | { displayOptions?: INodeProperties['displayOptions'] }, parameters: Record<string, string>) => {
		const { show = {}, hide = {} } = property.displayOptions ?? {};
		const matches = ([name, values]: [string, unknown]) => (values as unknown[]).includes(parameters[name]);
		return Object.entries(show).every(matches) && !Object.entries(hide).some(matches);
	};

	it('has a name that no other resource uses: outputs and credentials go by it alone', () => {
		const names = operations.map(({ operation }) => operation);
		expect(new Set(names).size).toBe(names.length);
	});

	it('of a resource is among its choices by default', () => {
		for (const list of lists) expect(optionsOf(list).map(({ value }) => value)).toContain(list.default);
	});

	it.each(operations)('$resource $operation looks for its tables where Claim makes them', (parameters) => {
		const options = description.properties.filter((property) => property.name === 'options' && shownFor(property, parameters));
		expect(options).toHaveLength(1);
		const names = (options[0]!.options as INodeProperties[]).map(({ name }) => name);
		expect(names).toEqual(expect.arrayContaining(['schema', 'tablePrefix']));
		expect(description.properties.filter((property) => property.name === 'store' && shownFor(property, parameters))).toHaveLength(1);
	});

	it.each(operations)('$resource $operation shows no field twice', (parameters) => {
		const names = description.properties.filter((property) => shownFor(property, { ...parameters, event: 'claimedBefore' })).map(({ name }) => name);
		expect(names.filter((name, at) => names.indexOf(name) !== at && name !== 'eventIdFrom')).toEqual([]);
	});

	it('but Claim goes without a signing secret', () => {
		const secret = description.credentials!.find(({ name }) => name === 'webhookSigningSecretApi')!;
		const asking = operations.filter((parameters) => shownFor(secret, parameters)).map(({ operation }) => operation);
		expect(asking).toEqual(['claim']);
	});
});

describe('choices', () => {
	it('have a default that exists, and cannot be turned into an expression', () => {
		for (const field of choices) {
			expect(optionsOf(field).map(({ value }) => value), field.name).toContain(field.default);
			expect(field.noDataExpression, field.name).toBe(true);
		}
	});

	it('of providers are the table of the core, and the custom scheme', () => {
		const [provider] = named('provider');
		const table = loadCore().providers();
		expect(optionsOf(provider!).map(({ value }) => value).sort()).toEqual([...table.map(({ key }) => key), 'custom'].sort());
		expect(table.map(({ key }) => key)).toContain('none');
	});

	it('of the event ID have one field for every provider', () => {
		const [provider] = named('provider');
		for (const { value } of optionsOf(provider!)) {
			const shown = named('eventIdFrom').filter((field) => field.displayOptions!.show!['provider']!.includes(value as string));
			expect(shown, String(value)).toHaveLength(1);
		}
	});
});

function sorted(names: string[]): string[] {
	return [...names].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
}
