/** n8n workflows in the form the editor exports, made of small functions. */
import { randomUUID } from 'node:crypto';

export interface Node {
	readonly id: string;
	readonly name: string;
	readonly type: string;
	readonly typeVersion: number;
	readonly position: readonly [number, number];
	readonly parameters: Record<string, unknown>;
	readonly credentials?: Record<string, CredentialRef>;
	readonly webhookId?: string;
	readonly onError?: string;
	readonly retryOnFail?: boolean;
	readonly waitBetweenTries?: number;
	readonly alwaysOutputData?: boolean;
}

export interface CredentialRef {
	readonly id: string;
	readonly name: string;
}

export interface Workflow {
	readonly name: string;
	readonly nodes: readonly Node[];
	readonly connections: Record<string, { main: Array<Array<{ node: string; type: 'main'; index: number }>> }>;
	readonly settings?: Record<string, unknown>;
}

/** One line of a workflow: from a node's output (0 if not said) to a node. */
export type Wire = readonly [from: string, to: string, output?: number];

export type Settings = Pick<Node, 'credentials' | 'onError' | 'retryOnFail' | 'waitBetweenTries' | 'alwaysOutputData'>;

export function workflow(name: string, nodes: readonly Node[], wires: readonly Wire[]): Workflow {
	const connections: Workflow['connections'] = {};
	for (const [from, to, output = 0] of wires) {
		const outputs = (connections[from] ??= { main: [] }).main;
		while (outputs.length <= output) outputs.push([]);
		outputs[output]?.push({ node: to, type: 'main', index: 0 });
	}
	return { name, nodes, connections };
}

export function node(
	name: string,
	type: string,
	typeVersion: number,
	parameters: Record<string, unknown>,
	settings: Settings = {},
): Node {
	return { id: randomUUID(), name, type, typeVersion, position: [0, 0], parameters, ...settings };
}

export function webhook(path: string, { rawBody }: { rawBody: boolean }): Node {
	const parameters = { httpMethod: 'POST', path, responseMode: 'responseNode', options: rawBody ? { rawBody: true } : {} };
	return { ...node('Webhook', 'n8n-nodes-base.webhook', 2.1, parameters), webhookId: randomUUID() };
}

/** Answers with the item it is given; which Respond node answered stands in the header `x-answered-by`. */
export function respond(name: string, statusCode = 200): Node {
	return node(name, 'n8n-nodes-base.respondToWebhook', 1.5, {
		respondWith: 'firstIncomingItem',
		options: { responseCode: statusCode, responseHeaders: { entries: [{ name: 'x-answered-by', value: name.toLowerCase() }] } },
	});
}

/** Calls an API: `body` is an expression that gives an object, `key` one that gives the header Idempotency-Key. */
export function post(name: string, url: string, body: string, key: string, settings: Settings = {}): Node {
	const parameters = {
		...{ method: 'POST', url, sendHeaders: true, headerParameters: { parameters: [{ name: 'Idempotency-Key', value: key }] } },
		...{ sendBody: true, specifyBody: 'json', jsonBody: body, options: {} },
	};
	return node(name, 'n8n-nodes-base.httpRequest', 4.2, parameters, settings);
}

/** n8n's own Postgres node, running one statement. `values` is an expression that gives its parameters. */
export function statement(name: string, query: string, values: string, postgres: CredentialRef): Node {
	return node(
		name,
		'n8n-nodes-base.postgres',
		2.6,
		{ operation: 'executeQuery', query, options: { queryReplacement: values } },
		{ credentials: { postgres } },
	);
}

/** True where the expression gives a text that is not empty. */
export function ifNotEmpty(name: string, leftValue: string): Node {
	return node(name, 'n8n-nodes-base.if', 2.2, {
		conditions: {
			options: { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 },
			conditions: [{ id: randomUUID(), leftValue, rightValue: '', operator: { type: 'string', operation: 'notEmpty', singleValue: true } }],
			combinator: 'and',
		},
		looseTypeValidation: true,
		options: {},
	});
}
