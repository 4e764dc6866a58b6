import { beforeAll, describe, expect, it } from 'vitest';
import { burst, deliver } from '../../scripts/deliveries/burst.mjs';
import { stripe } from '../../scripts/deliveries/senders.mjs';
import { freshPath, type Published, type Stage } from '../harness/stage';
import { respond, webhook, workflow, type Workflow } from '../harness/workflows';
import { gateNode } from './gates';
import { charge, recipeWithIf, recipeWithoutIf, removeDuplicates, tables } from './published-recipe';

const TIMES = 50;

interface Figures {
	readonly charges: number;
	readonly errors: number;
	readonly forgedCharges: number;
}

/** The usual ways beside the gate: same n8n, same deliveries, and what counts is how many charges went out. */
export function comparison(stage: () => Stage): void {
	describe(`the usual ways and the gate, ${TIMES} simultaneous deliveries of one event`, () => {
		const figures: Record<string, Figures> = {};
		beforeAll(() => stage().database.query(tables));

		const ways: Record<string, (path: string) => Workflow | Promise<Workflow>> = {
			'Postgres node': (path) => recipeWithoutIf(path, stage().postgres),
			'Postgres node + IF': (path) => recipeWithIf(path, stage().postgres),
			'Remove Duplicates': (path) => removeDuplicates(path, stage().postgres),
			'Idempotency Gate': (path) => withGate(stage(), path),
		};

		it.each(Object.keys(ways))('%s', async (way) => {
			const make = ways[way] as (typeof ways)[string];
			const live = await stage().publish(await make(freshPath('charge')));
			figures[way] = await measure(stage(), live);
			expect(figures[way].charges).toBeGreaterThan(0);
		});

		it('the gate lets one charge through, and none for a forged event', () => {
			console.log(asTable(figures));
			expect(figures['Idempotency Gate']).toEqual({ charges: 1, errors: 0, forgedCharges: 0 });
			// The insert alone is no proof: n8n's Postgres node gives an item for a duplicate too.
			expect(figures['Postgres node']?.charges).toBeGreaterThan(1);
			expect(figures['Postgres node + IF']).toMatchObject({ charges: 1, forgedCharges: 1 });
		});
	});
}

async function withGate(stage: Stage, path: string): Promise<Workflow> {
	const nodes = [
		webhook(path, { rawBody: true }),
		await gateNode(stage, { provider: 'stripe' }),
		charge(stage.postgres),
		respond('Charged'),
		respond('Duplicate'),
		respond('Rejected', 401),
	];
	return workflow('Idempotency Gate', nodes, [
		['Webhook', 'Gate'],
		['Gate', 'Charge', 0],
		['Charge', 'Charged'],
		['Gate', 'Duplicate', 1],
		['Gate', 'Rejected', 2],
	]);
}

/** A first event beforehand, so that every way has worked once and is not judged by its very first execution. */
async function measure(stage: Stage, { url }: Published): Promise<Figures> {
	await deliver(url, stripe.request());
	await stage.database.query('TRUNCATE charges');
	const request = stripe.request();
	const answers = await burst(url, Array<typeof request>(TIMES).fill(request));
	const charges = await countCharges(stage);
	await stage.database.query('TRUNCATE charges');
	await deliver(url, stripe.request({}, { secret: 'a secret of somebody else' }));
	return { charges, errors: answers.filter(({ status }) => status >= 500).length, forgedCharges: await countCharges(stage) };
}

async function countCharges(stage: Stage): Promise<number> {
	const { rows } = await stage.database.query<{ n: number }>('SELECT count(*)::int AS n FROM charges');
	return rows[0]?.n ?? 0;
}

function asTable(figures: Record<string, Figures>): string {
	const line = (way: string, ...cells: unknown[]) => [way.padEnd(20), ...cells.map((cell) => String(cell).padStart(16))].join('');
	return [
		line('', 'charges of 50', 'answered 500', 'forged charges'),
		...Object.entries(figures).map(([way, { charges, errors, forgedCharges }]) => line(way, charges, errors, forgedCharges)),
	].join('\n');
}
