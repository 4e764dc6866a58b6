/**
 * n8n's own engine with the built node in it: `WorkflowExecute`, `ExecuteContext`, the expression engine and the hooks
 * are those of the installed n8n. Only the database of n8n and its web server are left out.
 */
import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type {
	ICredentialDataDecryptedObject,
	INode,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	IRun,
	IRunExecutionData,
	IWorkflowSettings,
	NodeExecutionHint,
	Workflow as N8nWorkflow,
	WorkflowExecuteMode,
} from 'n8n-workflow';
import { fromN8n, home } from './installed-n8n';

const root = path.resolve(__dirname, '../..');
const core = fromN8n('n8n-core') as Core;
const workflow = fromN8n('n8n-workflow') as typeof import('n8n-workflow');

/** The package as it would lie in n8n's folder of community packages. */
export const installed = path.join(home, 'n8n-nodes-idempotency-gate');
cpSync(path.join(root, 'node-package', 'dist'), path.join(installed, 'dist'), { recursive: true });
cpSync(path.join(root, 'node-package', 'package.json'), path.join(installed, 'package.json'));
const gate = load('dist/nodes/IdempotencyGate/IdempotencyGate.node.js', 'IdempotencyGate') as INodeType;

export const GATE = 'n8n-nodes-idempotency-gate.idempotencyGate';

export interface Flow {
	/** Items that the node Start gives. */
	readonly start: readonly INodeExecutionData[];
	readonly nodes: ReadonlyArray<Partial<INode> & { name: string }>;
	/** From, to, and the output and the input if they are not 0. */
	readonly wires: ReadonlyArray<readonly [from: string, to: string, output?: number, input?: number]>;
	/** Tools, by the agent that has them. */
	readonly tools?: Readonly<Record<string, string>>;
	readonly credentials: Readonly<Record<string, ICredentialDataDecryptedObject>>;
	readonly settings?: IWorkflowSettings;
	readonly workflowId?: string;
	readonly mode?: WorkflowExecuteMode;
	readonly executionId?: string;
	/** When n8n's main process took the request in. */
	readonly receivedAt?: number;
	/** Goes on with this data instead of starting, as "Retry" does. */
	readonly resume?: IRunExecutionData;
	/** Called before each time the engine runs a node of ours, with 1, 2, … and the node's name. */
	readonly onTry?: (tryNumber: number, node: string) => void | Promise<void>;
	/** More node types, for this flow only. */
	readonly types?: Readonly<Record<string, INodeType>>;
}

export interface Finished {
	readonly run: IRun;
	readonly error: { message: string; description?: string | null } | undefined;
	readonly hints: readonly NodeExecutionHint[];
	/** What a node sent to `sendResponse`. */
	readonly responses: readonly unknown[];
	/** All outputs of a node in its last run; `undefined` where it did not run. */
	outputs(name: string): INodeExecutionData[][] | undefined;
	/** How many items the node was given, over all its runs. */
	received(name: string): number;
}

let executions = 1000;

export async function execute(flow: Flow): Promise<Finished> {
	const { mode = 'webhook', executionId = String(++executions) } = flow;
	const graph = build(flow);
	const hooks = new core.ExecutionLifecycleHooks(mode, executionId, {});
	const responses: unknown[] = [];
	hooks.addHandler('sendResponse', (response: unknown) => responses.push(response));
	const additionalData = {
		executionId,
		hooks,
		currentNodeExecutionIndex: 0,
		variables: {},
		restApiUrl: 'http://n8n.example/rest',
		webhookWaitingBaseUrl: 'http://n8n.example/webhook-waiting',
		formWaitingBaseUrl: 'http://n8n.example/form-waiting',
		credentialsHelper: {
			getDecrypted: async (_data: unknown, { name }: { name: string }) => structuredClone(flow.credentials[name]),
			getParentTypes: () => [],
			isCredentialUsableByNode: () => true,
		},
	};
	const data = flow.resume ?? arrival(flow, graph, mode);
	const run = await new core.WorkflowExecute(additionalData, mode, data).processRunExecutionData(graph);
	const runsOf = (name: string) => run.data.resultData.runData[name] ?? [];
	return {
		run,
		error: run.data.resultData.error as Finished['error'],
		hints: Object.values(run.data.resultData.runData).flatMap((runs) => runs.flatMap(({ hints }) => hints ?? [])),
		responses,
		outputs: (name) => runsOf(name).at(-1)?.data?.['main'] as INodeExecutionData[][] | undefined,
		received: (name) => runsOf(name).reduce((sum, one) => sum + (one.data?.['main']?.[0]?.length ?? 0), 0),
	};
}

/** As n8n's webhook server begins an execution: the request's items, and when they came. */
function arrival({ start, receivedAt }: Flow, graph: N8nWorkflow, mode: WorkflowExecuteMode): IRunExecutionData {
	const node = graph.getNode('Start')!;
	const data = { main: [structuredClone(start) as INodeExecutionData[]] };
	const runtimeData = { version: 1 as const, establishedAt: receivedAt ?? Date.now(), source: mode };
	return workflow.createRunExecutionData({
		executionData: { nodeExecutionStack: [{ node, data, source: null }], runtimeData },
	});
}

/** The workflow as n8n makes it from its JSON. */
export function build({ nodes, wires, settings, workflowId = 'Wf1', tools = {}, onTry, types: more }: Omit<Flow, 'start' | 'credentials'>): N8nWorkflow {
	const all = [{ name: 'Start', type: 'test.pass' }, ...nodes];
	const connections: Record<string, Record<string, Array<Array<{ node: string; type: string; index: number }>>>> = {};
	for (const [from, to, output = 0, input = 0] of wires) {
		const outputs = ((connections[from] ??= { main: [] })['main'] ??= []);
		while (outputs.length <= output) outputs.push([]);
		outputs[output]?.push({ node: to, type: 'main', index: input });
	}
	for (const [owner, tool] of Object.entries(tools)) {
		connections[tool] = { ai_tool: [[{ node: owner, type: 'ai_tool', index: 0 }]] };
	}
	return new workflow.Workflow({
		id: workflowId,
		name: 'Orders',
		nodes: all.map((node, at) => ({
			id: `node-${node.name}`,
			type: 'test.pass',
			typeVersion: 1,
			position: [at * 200, 0],
			parameters: {},
			...node,
		})) as INode[],
		connections: connections as never,
		active: true,
		nodeTypes: nodeTypes(onTry, more),
		settings: { executionOrder: 'v1', ...settings },
	});
}

/** The engine's classes for nodes that are run by something else than the workflow, such as an agent. */
export const engine = { core, workflow };

export function load(file: string, className: string): unknown {
	// n8n's loader: `new (require(file).ClassName)()`.
	const exported = createRequire(path.join(installed, 'package.json'))(path.join(installed, file)) as Record<string, new () => unknown>;
	return new exported[className]!();
}

/** A node that does with its items whatever a test wants. */
export function acting(execute: NonNullable<INodeType['execute']>): INodeType {
	return {
		description: {
			...{ displayName: 'Acting', name: 'acting', description: '', group: ['transform'], version: 1 },
			...{ defaults: {}, inputs: ['main'], outputs: ['main'], properties: [] },
		},
		execute,
	};
}

const pass = acting(async function () {
	return [this.getInputData()];
});

const types: Record<string, () => INodeType> = {
	[GATE]: () => gate,
	[`${GATE}Tool`]: asTool,
	'test.pass': () => pass,
	'test.agent': () => agent,
	// Under a name that the gate looks for.
	'n8n-nodes-base.wait': () => pass,
	'n8n-nodes-base.splitInBatches': () => ofN8n('SplitInBatches/v3/SplitInBatchesV3.node.js', 'SplitInBatchesV3'),
	'n8n-nodes-base.aggregate': () => ofN8n('Transform/Aggregate/Aggregate.node.js', 'Aggregate'),
	'n8n-nodes-base.merge': () => ofN8n('Merge/v3/MergeV3.node.js', 'MergeV3'),
};

function nodeTypes(onTry: Flow['onTry'], more: Flow['types'] = {}) {
	const tries = new Map<string, number>();
	const typeOf = (name: string): INodeType => {
		const type = more[name] ?? types[name]?.();
		if (!type) throw new Error(`The engine of the tests has no node type ${name}`);
		if (type !== gate || !onTry) return type;
		return {
			description: gate.description,
			async execute() {
				const { name: node } = this.getNode();
				tries.set(node, (tries.get(node) ?? 0) + 1);
				await onTry(tries.get(node)!, node);
				return await gate.execute!.call(this);
			},
		};
	};
	return { getByName: typeOf, getByNameAndVersion: typeOf, getKnownTypes: () => ({}) };
}

/** The tool that n8n makes of a node with `usableAsTool`. */
function asTool(): INodeType {
	const { convertNodeToAiTool } = fromN8n('n8n/dist/tool-generation/ai-tools.js') as {
		convertNodeToAiTool(item: { description: INodeTypeDescription }): { description: INodeTypeDescription };
	};
	const { description } = convertNodeToAiTool({ description: workflow.deepCopy(gate.description) });
	return { description, execute: gate.execute! };
}

/** Calls its tools the way n8n's agents do: each input item holds the arguments of one call, all calls at once. */
const agent: INodeType = {
	description: {
		...{ displayName: 'Agent', name: 'agent', description: '', group: ['transform'], version: 1, defaults: {} },
		...{ inputs: ['main', { type: 'ai_tool' }], outputs: ['main'], properties: [] },
	},
	async execute() {
		const [tool] = (await this.getInputConnectionData('ai_tool', 0)) as Array<{ invoke(input: object): Promise<string> }>;
		const answers = await Promise.all(this.getInputData().map(async ({ json }) => await tool!.invoke(json)));
		return [answers.map((answer, item) => ({ json: { answer: JSON.parse(answer) as never }, pairedItem: { item } }))];
	},
};

/** A node that comes with n8n. Of one with versions the class is that of a version, and wants what all have in common. */
function ofN8n(file: string, className: string): INodeType {
	const exported = fromN8n(`n8n-nodes-base/dist/nodes/${file}`) as Record<string, new (description: object) => INodeType>;
	return new exported[className]!({});
}

interface Execution {
	processRunExecutionData(workflow: N8nWorkflow): Promise<IRun>;
}

/** The part of n8n-core that is used; its own types are not installed here. */
interface Core {
	WorkflowExecute: new (additionalData: unknown, mode: WorkflowExecuteMode, data?: IRunExecutionData) => Execution;
	ExecutionLifecycleHooks: new (
		mode: WorkflowExecuteMode,
		executionId: string,
		workflowData: unknown,
	) => { addHandler(name: string, handler: (value: unknown) => unknown): void };
}
