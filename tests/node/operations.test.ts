/** What the editor offers is what the node can do. */
import type { INodePropertyOptions, INodeType } from 'n8n-workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execute, GATE, load } from './engine';
import { openStage, plain, type Stage } from './stage';

const { description } = load('dist/nodes/IdempotencyGate/IdempotencyGate.node.js', 'IdempotencyGate') as INodeType;
const offered = description.properties
	.filter(({ name }) => name === 'operation')
	.flatMap(({ displayOptions, options }) => {
		const resource = displayOptions!.show!['resource']![0] as string;
		return (options as INodePropertyOptions[]).map(({ value }) => ({ resource, operation: value as string }));
	});

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

describe('an operation that is offered', () => {
	it('is there', () => {
		expect(offered.length).toBeGreaterThan(10);
	});

	it.each(offered)('$resource $operation can be run, also before there are any tables', async ({ resource, operation }) => {
		// What the editor requires before it runs anything.
		const required = { stages: 'a', stage: 'a', reason: 'test', topic: 'test', event: 'eventId', eventId: 'evt_1', messageToken: 'x' };
		const finished = await execute({
			start: [plain({ id: 'evt_1' })],
			nodes: [
				{
					name: 'Gate',
					type: GATE,
					parameters: {
						...{ resource, operation, ...required, provider: 'none', eventIdFrom: 'expression' },
						options: { tablePrefix: `of_${operation.toLowerCase()}` },
					},
					credentials: { postgres: { id: '1', name: 'Postgres' } },
				},
			],
			wires: [['Start', 'Gate']],
			credentials: { Postgres: { ...stage.postgres } },
		});
		expect(finished.error?.message ?? '').not.toMatch(/does not exist in this version|does not exist|relation|column|undefined/);
		const expected = ['advance', 'complete', 'extendLease', 'fail', 'markUncertain', 'reopen', 'resolve'];
		if (expected.includes(operation)) expect(finished.error?.message).toMatch(/^There is no event 'evt_1'/);
	});
});
