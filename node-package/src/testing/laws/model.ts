import assert from 'node:assert';
import type { ClaimAsk, Settle, Store } from '../../store/store';
import type { Law } from '../world';
import { ask, behindBarrier, claimOne, dice, HOUR, key, newOwner, OURS, openMany, settleOne, until } from './cast';

/** The store beside a page of plain code that says what it should do. */
export const model: readonly Law[] = [
	{
		name: 'a random history, step by step, is judged as the model judges it',
		hazard: 'T1-T12',
		async run(world) {
			for (let seed = 1; seed <= 6; seed++) {
				const scope = world.newScope();
				const roll = dice(seed);
				const store = await world.open();
				const records = new Map<string, ModelRecord>();
				const owners = Array.from({ length: 4 }, newOwner);
				const receipts: Array<{ readonly asked: ClaimAsk; readonly fence: string }> = [];
				for (let step = 0; step < 120; step++) {
					const where = `seed ${seed}, step ${step}`;
					const receipt = receipts[roll(receipts.length + 1)];
					if (receipt && roll(2) === 0) {
						const to = randomEnd(roll);
						const expected = settleModel(records, receipt.asked, receipt.fence, to);
						const actual = await settleOne(store, receipt.asked, receipt.fence, to);
						assert.deepEqual([actual.verdict, actual.state], expected, where);
						continue;
					}
					const asked = ask(key(scope, `evt_${roll(5)}`), {
						owner: owners[roll(owners.length)] as string,
						leaseMs: roll(2) === 0 ? 1 : HOUR,
						maxAttempts: 1 + roll(3),
						unfinished: (['take_over', 'hold', 'complete_on_claim'] as const)[roll(3)] as ClaimAsk['unfinished'],
					});
					const expected = claimModel(records, asked);
					const actual = await claimOne(store, asked);
					assert.deepEqual([actual.verdict, actual.state, actual.attempt], expected, where);
					const record = records.get(asked.key.eventId) as ModelRecord;
					if (OURS.has(actual.verdict)) {
						const fence = actual.fence as string;
						if (actual.verdict === 'reentrant') assert.equal(fence, record.fence, where);
						else assert.ok(BigInt(fence) > BigInt(record.fence), where);
						record.fence = fence;
						receipts.push({ asked, fence });
					}
					if (record.live === false) {
						// Short leases are over before the next step, so that the model need not know the time.
						const { leaseUntilMs } = (await store.find(asked.key)) as NonNullable<Awaited<ReturnType<Store['find']>>>;
						await until(async () => (await world.now()) > (leaseUntilMs ?? 0) + 1);
					}
				}
			}
		},
	},
	{
		name: 'a random history of 8 clients at once: ownerships follow each other, and what is done stays done',
		hazard: 'H1, H16, H18',
		async run(world) {
			const scope = world.newScope();
			const stores = await openMany(world, 8);
			const done = new Set<string>();
			const fences = new Map<string, Set<string>>();
			await behindBarrier(
				stores.map((store, seed) => async () => {
					const roll = dice(seed + 300);
					let last = new Map<string, bigint>();
					for (let step = 0; step < 100; step++) {
						const asked = ask(key(scope, `evt_${roll(12)}`), { leaseMs: roll(3) === 0 ? HOUR : 1, maxAttempts: 30_000 });
						const id = asked.key.eventId;
						const wasDone = done.has(id);
						const { verdict, fence } = await claimOne(store, asked);
						if (wasDone) assert.equal(verdict, 'completed', `${id} was done before it was asked for`);
						if (!OURS.has(verdict)) continue;
						assert.ok(BigInt(fence ?? 0) > (last.get(id) ?? 0n), `the fence of ${id} grows`);
						last = last.set(id, BigInt(fence ?? 0));
						const seen = fences.get(id) ?? new Set<string>();
						assert.ok(!seen.has(fence as string), `the fence ${fence} of ${id} was given out twice`);
						fences.set(id, seen.add(fence as string));
						const to = roll(6) === 0 ? ({ state: 'completed' } as const) : randomFailure(roll);
						const end = await settleOne(store, asked, fence, to);
						if (end.state === 'completed' && end.verdict !== 'fenced_out') {
							assert.ok(!done.has(id), `${id} was completed twice`);
							done.add(id);
						}
					}
				}),
			);
			assert.ok(done.size > 0, 'the history reached an end');
		},
	},
];

interface ModelRecord {
	state: 'processing' | 'failed' | 'uncertain' | 'completed' | 'dead';
	owner: string;
	fence: string;
	attempt: number;
	/** Whether the lease or the backoff still runs at the next step; `null` where there is none. */
	live: boolean | null;
}

/** Verdict, state and attempt after the step. */
function claimModel(records: Map<string, ModelRecord>, asked: ClaimAsk): [string, string, number] {
	const id = asked.key.eventId;
	const record = records.get(id) ?? { state: 'failed', owner: '', fence: '0', attempt: 0, live: false };
	const fresh = !records.has(id);
	const done = asked.unfinished === 'complete_on_claim';
	const answer = (verdict: string): [string, string, number] => [verdict, record.state, record.attempt];
	records.set(id, record);

	if (!fresh && record.owner === asked.owner) {
		if (record.state === 'completed' && done) return answer('reentrant');
		if (record.state === 'processing') {
			record.live = asked.leaseMs === HOUR;
			return answer('reentrant');
		}
	}
	if (record.state === 'completed' || record.state === 'dead' || record.state === 'uncertain') return answer(record.state);
	if (record.live) return answer(record.state === 'processing' ? 'in_progress' : 'backoff');
	if (record.attempt >= asked.maxAttempts) {
		Object.assign(record, { state: 'dead', live: null });
		return answer('exhausted');
	}
	if (record.state === 'processing' && asked.unfinished === 'hold') {
		Object.assign(record, { state: 'uncertain', live: null });
		return answer('held');
	}
	const verdict = fresh ? 'claimed' : record.state === 'failed' ? 'retried' : 'taken_over';
	record.attempt++;
	record.owner = asked.owner;
	record.state = done ? 'completed' : 'processing';
	record.live = done ? null : asked.leaseMs === HOUR;
	return answer(verdict);
}

function settleModel(
	records: Map<string, ModelRecord>,
	{ key: { eventId }, owner }: ClaimAsk,
	fence: string,
	to: Settle['to'],
): [string, string] {
	const record = records.get(eventId) as ModelRecord;
	if (record.owner !== owner || record.fence !== fence) return ['fenced_out', record.state];
	const target = to.state === 'failed' && record.attempt >= (to.maxAttempts ?? 5) ? 'dead' : to.state;
	if (record.state !== 'processing') return [record.state === target ? 'already' : 'fenced_out', record.state];
	const verdict = record.live ? 'settled' : 'late';
	record.state = target;
	record.live = to.state === 'failed' && target === 'failed' ? to.retryAfterMs !== 0 : null;
	return [verdict, target];
}

function randomEnd(roll: (sides: number) => number): Settle['to'] {
	const error = 'x';
	const ends = [
		{ state: 'completed' },
		{ state: 'failed', error, retryAfterMs: 0, maxAttempts: 1 + roll(3) },
		{ state: 'failed', error, retryAfterMs: HOUR, maxAttempts: 1 + roll(3) },
		{ state: 'uncertain', error },
		{ state: 'dead', error },
	] as const;
	return ends[roll(ends.length)] as Settle['to'];
}

function randomFailure(roll: (sides: number) => number): Settle['to'] {
	return { state: 'failed', error: 'x', retryAfterMs: roll(2), maxAttempts: 30_000 };
}
