/** The gate as a tool of an agent, which sees output 0 only. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execute, GATE, type Flow } from './engine';
import { freshWorkflow, gateNode, openStage, plain, runGate, type Stage } from './stage';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

const parameters = { provider: 'none', eventIdFrom: 'expression', eventId: "={{ $fromAI('event_id', 'ID of the event') }}" };

describe('a tool', () => {
	it('answers each call with a plain sentence and "claimed", duplicates too, also when called twice at once', async () => {
		const tool = { ...gateNode({ parameters }), name: 'Tool', type: `${GATE}Tool` } as Flow['nodes'][number];
		const finished = await execute({
			start: [plain({ event_id: 'a' }), plain({ event_id: 'a' }), plain({ event_id: 'b' })],
			nodes: [{ name: 'Agent', type: 'test.agent' }, tool],
			wires: [['Start', 'Agent']],
			tools: { Agent: 'Tool' },
			credentials: { Postgres: { ...stage.postgres } },
			workflowId: freshWorkflow(),
		});
		expect(finished.error).toBeUndefined();
		const answers = finished.outputs('Agent')![0]!.map(({ json }) => json['answer'] as Array<{ claimed: boolean; message: string }>);
		expect(answers.map((answer) => answer.length)).toEqual([1, 1, 1]);
		expect(answers.flat().filter(({ claimed }) => claimed)).toHaveLength(2);
		expect(answers[2]![0]!.claimed).toBe(true);
		for (const { message } of answers.flat()) expect(message).toMatch(/^[A-Z].{10,}/);
	});

	it('run in line by the engine, puts everything on output 0', async () => {
		const workflowId = freshWorkflow();
		const setup = {
			parameters: { provider: 'none', eventIdFrom: 'expression', eventId: '={{ $json.id }}' },
			node: { rewireOutputLogTo: 'ai_tool' as const, alwaysOutputData: true },
			workflowId,
		};
		const finished = await runGate(stage, [plain({ id: 'a' }), plain({ id: 'a' })], setup);
		expect(finished.error).toBeUndefined();
		const [run] = finished.run.data.resultData.runData['Gate']!;
		const outputs = run!.data!['ai_tool']!;
		expect(outputs.map((items) => items!.map(({ json }) => json['claimed']))).toEqual([[true, false]]);
	});
});
