import assert from 'node:assert';
import type { Ownership } from '../../store/lifecycle';
import type { ClaimAsk, Settle, Store } from '../../store/store';
import type { Law, World } from '../world';
import {
	ask,
	behindBarrier,
	claimOne,
	dice,
	HOUR,
	key,
	newOwner,
	OURS,
	openMany,
	owned,
	search,
	settleOne,
	until,
} from './cast';
import { Expected } from './expected';

/** The store beside a page of plain code that says what it should do. */
export const model: readonly Law[] = [
	{
		name: 'a random history, step by step, is judged as the model judges it',
		hazard: 'T1-T14',
		async run(world) {
			for (let seed = 1; seed <= 6; seed++) {
				const history = new History(world, await world.open(), seed);
				for (let step = 0; step < 120; step++) await history.takeStep(`seed ${seed}, step ${step}`);
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

/** One client that does one thing after another, and what should come of it. */
class History {
	private readonly scope: string;
	private readonly roll: (sides: number) => number;
	private readonly expected = new Expected();
	private readonly owners = Array.from({ length: 4 }, newOwner);
	private readonly receipts: Ownership[] = [];

	/** What comes with a claim changes nothing about it, but a store may take another way for it. */
	private readonly more: Partial<ClaimAsk>;

	constructor(
		private readonly world: World,
		private readonly store: Store,
		seed: number,
	) {
		this.scope = world.newScope();
		this.roll = dice(seed);
		const payload = { headers: [], body: new Uint8Array(1), keep: 'until_completed' } as const;
		this.more = seed % 2 === 0 ? { payload } : {};
	}

	async takeStep(where: string): Promise<void> {
		const receipt = this.receipts[this.roll(this.receipts.length + 1)];
		const steps = receipt
			? [this.claim, this.claim, this.settle, this.settle, this.extend, this.advance, this.recover, this.reopen, this.resolve]
			: [this.claim];
		const take = this.oneOf<(where: string, receipt: Ownership) => Promise<void>>(steps);
		await take.call(this, where, receipt as Ownership);
		await this.untilShortLeasesAreOver();
	}

	private async claim(where: string): Promise<void> {
		const asked = ask(this.anyKey(), {
			owner: this.anyOwner(),
			leaseMs: this.anyLease(),
			maxAttempts: 1 + this.roll(3),
			unfinished: this.oneOf(['take_over', 'take_over', 'hold', 'complete_on_claim'] as const),
			...this.more,
		});
		const expected = this.expected.claim(asked);
		const { verdict, state, attempt, stage, fence } = await claimOne(this.store, asked);
		assert.deepEqual([verdict, state, attempt, stage], expected, where);
		if (OURS.has(verdict)) this.receive(owned(asked, fence), verdict === 'reentrant', where);
	}

	private async settle(where: string, receipt: Ownership): Promise<void> {
		const to = randomEnd(this.roll);
		const expected = this.expected.settle(receipt, to);
		const { verdict, state } = await settleOne(this.store, ask(receipt.key, receipt), receipt.fence, to);
		assert.deepEqual([verdict, state], expected, where);
	}

	private async extend(where: string, receipt: Ownership): Promise<void> {
		const leaseMs = this.anyLease();
		const expected = this.expected.extend(receipt, leaseMs);
		const [reply] = await this.store.extend([{ ...receipt, leaseMs }]);
		assert.deepEqual([reply?.verdict, reply?.state], expected, where);
	}

	private async advance(where: string, receipt: Ownership): Promise<void> {
		const stages = this.oneOf([['a', 'b', 'c'], ['b', 'c'], ['c', 'a', 'b']] as const);
		const stage = this.oneOf(stages);
		const expected = this.expected.advance(receipt, stage, stages);
		const [reply] = await this.store.advance([{ ...receipt, stage, stages }]);
		assert.deepEqual([reply?.verdict, reply?.state, reply?.stageBefore, reply?.stage], expected, where);
	}

	private async recover(where: string): Promise<void> {
		const wanted = search({
			scope: this.scope,
			which: this.oneOf(['stale', 'failed', 'both'] as const),
			limit: 1 + this.roll(4),
			leaseMs: this.anyLease(),
			maxAttempts: this.oneOf([null, null, 1, 2, 3] as const),
			unfinished: this.oneOf(['take_over', 'take_over', 'hold'] as const),
		});
		const expected = this.expected.recover(wanted);
		const found = await this.store.recover(wanted);
		assert.deepEqual(
			found.map(({ key: { eventId }, verdict, state, attempt, stage }) => [eventId, verdict, state, attempt, stage]),
			expected,
			where,
		);
		for (const { key: at, owner, fence } of found) {
			if (owner === null) continue;
			this.expected.owner(at, owner);
			this.receive({ key: at, owner, fence: fence as string }, false, where);
		}
	}

	private async reopen(where: string): Promise<void> {
		const order = { key: this.anyKey(), owner: this.anyOwner(), leaseMs: this.anyLease(), reason: 'x', executionId: null };
		const expected = this.expected.reopen(order);
		const [reply] = await this.store.reopen([order]);
		assert.deepEqual([reply?.verdict, reply?.state, reply?.attempt, reply?.stage], expected.slice(0, 4), where);
		if (reply?.verdict === 'reopened') this.receive(owned(ask(order.key, order), reply.fence), expected[4] === 'same', where);
	}

	private async resolve(where: string, receipt: Ownership): Promise<void> {
		const at = this.roll(2) === 0 ? receipt.key : this.anyKey();
		const order = {
			key: at,
			fence: this.roll(2) === 0 ? null : receipt.fence,
			to: this.oneOf([
				{ state: 'completed' },
				{ state: 'failed', retryAfterMs: 0 },
				{ state: 'failed', retryAfterMs: HOUR },
				{ state: 'dead' },
			] as const),
			reason: 'x',
		};
		const expected = this.expected.resolve(order);
		const [reply] = await this.store.resolve([order]);
		assert.deepEqual([reply?.verdict, reply?.state], expected, where);
	}

	private receive(receipt: Ownership, same: boolean, where: string): void {
		const before = this.expected.fence(receipt.key, receipt.fence);
		if (same) assert.equal(receipt.fence, before, where);
		else assert.ok(BigInt(receipt.fence) > BigInt(before), where);
		this.receipts.push(receipt);
	}

	/** So the model need not know the time. */
	private async untilShortLeasesAreOver(): Promise<void> {
		for (const eventId of this.expected.shortLeases()) {
			const record = await this.store.find(key(this.scope, eventId));
			await until(async () => (await this.world.now()) > (record?.leaseUntilMs ?? 0) + 1);
		}
	}

	private anyKey() {
		return key(this.scope, `evt_${this.roll(5)}`);
	}

	private anyOwner(): string {
		return this.oneOf(this.owners);
	}

	private anyLease(): number {
		return this.oneOf([1, HOUR]);
	}

	private oneOf<Some>(some: readonly Some[]): Some {
		return some[this.roll(some.length)] as Some;
	}
}

function randomEnd(roll: (sides: number) => number): Settle['to'] {
	const error = 'x';
	const ends = [
		{ state: 'completed' },
		{ state: 'completed', resumed: true },
		{ state: 'failed', error, retryAfterMs: 0, maxAttempts: null },
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
