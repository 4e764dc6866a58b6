/** A PostgreSQL and a workflow with a gate in it: Start, Gate, and a node behind each output. */
import { randomUUID } from 'node:crypto';
import type { INode, INodeExecutionData, IDataObject } from 'n8n-workflow';
import { Pool } from 'pg';
import { senders } from '../../scripts/deliveries/senders.mjs';
import { createDatabase, postgresCredential } from '../../scripts/setup/databases.mjs';
import { startPostgres } from '../../scripts/setup/postgres.mjs';
import { execute, GATE, type Finished, type Flow } from './engine';

export type Postgres = Awaited<ReturnType<typeof startPostgres>>;

export interface Stage {
	readonly server: Postgres;
	readonly database: Pool;
	/** n8n's credential for the server. */
	readonly postgres: ReturnType<typeof postgresCredential>;
	close(): Promise<void>;
}

export async function openStage(): Promise<Stage> {
	const server = await startPostgres();
	const own = await createDatabase(server.url, 'node');
	const database = new Pool({ connectionString: own.url, max: 2 });
	database.on('error', () => undefined);
	return {
		server,
		database,
		postgres: postgresCredential(own.url),
		close: async () => {
			await database.end();
			await own.drop();
			await server.stop();
		},
	};
}

/** What a test says about its execution; everything else is a Stripe webhook in production. */
export interface Setup extends Partial<Omit<Flow, 'start' | 'nodes'>> {
	/** Parameters of the gate. */
	readonly parameters?: Record<string, unknown>;
	/** Its options. */
	readonly options?: Record<string, unknown>;
	/** Its settings, e.g. `{ onError: 'continueErrorOutput' }`. */
	readonly node?: Partial<INode>;
	/** More nodes. */
	readonly nodes?: Flow['nodes'];
}

export const secret = senders.stripe.secret;

/** Every output goes somewhere, so that a test can say what ran. */
const behind = ['Claimed', 'Duplicate', 'Rejected', 'Failed'] as const;

export async function runGate(stage: Pick<Stage, 'postgres'>, start: INodeExecutionData[], setup: Setup = {}): Promise<Finished> {
	const { parameters, options, node, nodes = [], wires, credentials, ...rest } = setup;
	return await execute({
		start,
		nodes: [gateNode({ parameters, options, node }), ...behind.map((name) => ({ name })), ...nodes],
		wires: wires ?? [['Start', 'Gate'], ...behind.map((name, output) => ['Gate', name, output] as const)],
		credentials: { Postgres: { ...stage.postgres }, Stripe: { signingSecret: secret }, ...credentials },
		workflowId: freshWorkflow(),
		...rest,
	});
}

export function gateNode({ parameters, options = {}, node }: Partial<Record<'parameters' | 'options' | 'node', object | undefined>> = {}) {
	return {
		name: 'Gate',
		type: GATE,
		parameters: { resource: 'event', operation: 'claim', provider: 'stripe', ...parameters, options } as IDataObject,
		credentials: {
			postgres: { id: '1', name: 'Postgres' },
			webhookSigningSecretApi: { id: '2', name: 'Stripe' },
		},
		...node,
	} as Flow['nodes'][number];
}

/** Two workflows do not share events, and so two tests do not. */
export function freshWorkflow(): string {
	return `Wf-${randomUUID().slice(0, 8)}`;
}

interface Signing {
	readonly secret?: string;
	readonly at?: number;
}

/** A signed request of Stripe as the Webhook node hands it on, with Raw Body turned on. */
export function delivery(event: { id?: string; type?: string; object?: string } = {}, signing: Signing = {}): INodeExecutionData {
	const { headers, body } = senders.stripe.request(event, signing);
	return webhookItem(headers, body);
}

export function webhookItem(headers: Record<string, string>, body: Buffer): INodeExecutionData {
	return {
		json: {
			headers: { host: 'n8n.example', 'content-type': 'application/json', ...headers },
			params: {},
			query: {},
			body: JSON.parse(body.toString()) as IDataObject,
			webhookUrl: 'https://n8n.example/webhook/stripe',
			executionMode: 'production',
		},
		binary: { data: { data: body.toString('base64'), mimeType: 'application/json' } },
	};
}

/** An item of something that is not a webhook. */
export function plain(json: IDataObject): INodeExecutionData {
	return { json };
}

/** The gate's word on an item. */
export function details(item: INodeExecutionData | undefined, field = 'idempotency'): IDataObject {
	return item?.json[field] as IDataObject;
}

/** What left by each output of the gate, as `claimed/outcome`. */
export function routes(finished: Finished): string[][] {
	const outputs = finished.outputs('Gate') ?? [];
	return outputs.map((items) => items.map((item) => String(details(item)?.['outcome'] ?? 'error item')));
}
