/** The gate run more than once: by Retry On Fail, in a loop, by "Retry" of an execution, by another process. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lossyProxy, type LossyProxy } from './lossy-proxy';
import { delivery, details, freshWorkflow, gateNode, openStage, plain, routes, runGate, type Setup, type Stage } from './stage';

let stage: Stage;
let proxy: LossyProxy;
let credentials: NonNullable<Setup['credentials']>;
beforeAll(async () => {
	stage = await openStage();
	// The tables are there before answers are lost.
	await runGate(stage, [delivery()]);
});
afterAll(() => stage?.close());
beforeEach(async () => {
	proxy = await lossyProxy(stage.postgres);
	credentials = { Postgres: { ...stage.postgres, port: proxy.port } };
});
afterEach(() => proxy.close());

const retryOnFail = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
const claims = /INSERT INTO/i;

describe('Retry On Fail', () => {
	it.each([
		['takeOver', 'processing'],
		['alwaysDuplicate', 'completed'],
	])('learns that its claim was made though the answer was lost (%s)', async (unfinishedEvents, status) => {
		proxy.lose(claims);
		let tries = 0;
		const finished = await runGate(stage, [delivery()], {
			...{ credentials, node: retryOnFail, options: { unfinishedEvents } },
			onTry: (number) => {
				tries = number;
				if (number === 2) proxy.heal();
			},
		});
		expect(proxy.lost).toBeGreaterThan(0);
		expect(tries).toBe(2);
		expect(routes(finished)).toEqual([['reentrant'], [], []]);
		expect(details(finished.outputs('Gate')![0]![0])).toMatchObject({ attempt: 1, status });
		expect(finished.received('Claimed')).toBe(1);
	});

	it('does not take a claim that is somebody else\'s for its own', async () => {
		const setup = { workflowId: freshWorkflow(), node: retryOnFail };
		const item = delivery();
		await runGate(stage, [item], setup);
		proxy.lose(claims);
		const finished = await runGate(stage, [item], {
			...{ ...setup, credentials },
			onTry: (number) => {
				if (number === 2) proxy.heal();
			},
		});
		expect(routes(finished)).toEqual([[], ['completed'], []]);
	});

	it('runs a node again whose first item has an "error", and the claim stands', async () => {
		let tries = 0;
		const parameters = { provider: 'none', eventIdFrom: 'expression', eventId: '={{ $json.id }}' };
		const finished = await runGate(stage, [plain({ id: 'evt', error: 'from the input' })], {
			...{ parameters, node: retryOnFail },
			onTry: (number) => {
				tries = number;
			},
		});
		expect(tries).toBe(3);
		expect(routes(finished)).toEqual([['reentrant'], [], []]);
	});
});

describe('a loop', () => {
	it('is another run each time: a repeated event is a duplicate of itself', async () => {
		const item = delivery();
		const finished = await runGate(stage, [item, structuredClone(item), delivery()], {
			nodes: [{ name: 'Loop', type: 'n8n-nodes-base.splitInBatches', typeVersion: 3, parameters: { batchSize: 1, options: {} } }],
			wires: [
				['Start', 'Loop'],
				['Loop', 'Gate', 1],
				['Gate', 'Claimed', 0],
				['Gate', 'Duplicate', 1],
				['Claimed', 'Loop'],
				['Duplicate', 'Loop'],
			],
		});
		expect(finished.error).toBeUndefined();
		expect([finished.received('Claimed'), finished.received('Duplicate')]).toEqual([2, 1]);
	});
});

describe('"Retry" of a failed execution', () => {
	it('claims, if the gate had failed before it could', async () => {
		const setup = { workflowId: freshWorkflow(), credentials };
		const item = delivery();
		proxy.cut();
		const failed = await runGate(stage, [item], setup);
		expect(failed.error).toBeDefined();
		proxy.heal();
		const retried = await runGate(stage, [], { ...setup, mode: 'retry', resume: resumable(failed) });
		expect(routes(retried)).toEqual([['claimed'], [], []]);
	});

	it('twice lets one through: the copies of the execution do not share its tokens', async () => {
		const setup = { workflowId: freshWorkflow(), credentials };
		const item = delivery();
		proxy.cut();
		const failed = await runGate(stage, [item], setup);
		proxy.heal();
		const both = [];
		for (const executionId of ['901', '902']) {
			both.push(await runGate(stage, [], { ...setup, executionId, mode: 'retry', resume: resumable(failed) }));
		}
		expect(both.map(routes)).toEqual([[['claimed'], [], []], [[], ['completed'], []]]);
	});

	it('judges the signed time by when the request came, not by when somebody retries', async () => {
		const yesterday = Date.now() - 86_400_000;
		const setup = { workflowId: freshWorkflow(), credentials, receivedAt: yesterday };
		proxy.cut();
		const failed = await runGate(stage, [delivery({}, { at: yesterday })], setup);
		proxy.heal();
		const retried = await runGate(stage, [], { ...setup, mode: 'retry', resume: resumable(failed) });
		expect(routes(retried)).toEqual([['claimed'], [], []]);
	});
});

describe('an execution that another process runs again', () => {
	it('is an ordinary duplicate', async () => {
		const setup = { workflowId: freshWorkflow(), executionId: '950', options: { unfinishedEvents: 'takeOver' } };
		const item = delivery();
		expect(routes(await runGate(stage, [item], setup))).toEqual([['claimed'], [], []]);
		// The data of the first process are gone with it; the execution's number is the same.
		const again = await runGate(stage, [item], setup);
		expect(routes(again)).toEqual([[], ['in_progress'], []]);
		expect(details(again.outputs('Gate')![1]![0])).toMatchObject({ status: 'processing', response: { statusCode: 409 } });
	});
});

describe('two gates in a row', () => {
	const second = { ...gateNode(), name: 'Second Gate' };
	const wires = [['Start', 'Gate'], ['Gate', 'Second Gate'], ['Second Gate', 'Claimed', 0], ['Second Gate', 'Duplicate', 1]] as const;

	it('with one scope: says which gate has the event', async () => {
		const finished = await runGate(stage, [delivery()], { nodes: [second], wires });
		expect(finished.error?.message).toBe("This event was already claimed by 'Gate' in this execution");
		expect(finished.error?.description).toContain("'Scope'");
	});

	it('with scopes of their own: both claim', async () => {
		const own = { ...gateNode({ options: { scope: 'node' } }), name: 'Second Gate' };
		const finished = await runGate(stage, [delivery()], { nodes: [own], wires });
		expect(finished.error).toBeUndefined();
		expect(finished.received('Claimed')).toBe(1);
	});
});

describe('unfinished events', () => {
	it('count as completed when claimed, if the workflow completes none', async () => {
		const finished = await runGate(stage, [delivery()]);
		expect(details(finished.outputs('Gate')![0]![0])).toMatchObject({ status: 'completed', leaseUntil: null });
	});

	it('can be taken over after the lease, if the workflow completes events behind the gate', async () => {
		const completing = { ...gateNode(), name: 'Complete', parameters: { resource: 'event', operation: 'complete' } };
		const finished = await runGate(stage, [delivery()], {
			nodes: [completing],
			// On a branch that does not run.
			wires: [['Start', 'Gate'], ['Gate', 'Claimed', 0], ['Gate', 'Complete', 2]],
		});
		expect(details(finished.outputs('Gate')![0]![0])).toMatchObject({ status: 'processing', leaseUntil: expect.any(String) });
	});
});

/** As n8n's "Retry" prepares a failed execution. */
function resumable({ run }: Awaited<ReturnType<typeof runGate>>) {
	const data = structuredClone(run.data);
	const { lastNodeExecuted, runData } = data.resultData;
	delete data.resultData.error;
	runData[lastNodeExecuted!]?.pop();
	return data;
}
