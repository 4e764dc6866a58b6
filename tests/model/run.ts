/** Runs a schedule on a store, step by step beside the reference, and throws where the two part. */
import type { Recovered, RecoverySearch } from '../../node-package/src/store/lifecycle';
import type { Settle, Store, StoredClaim } from '../../node-package/src/store/store';
import { Actor, described, eventId, HOUR } from './actors';
import {
	type Answer,
	judge,
	judgeRecovery,
	type Judged,
	nothing,
	type Operation,
	passTime,
	recordOf,
	remove,
	samePayload,
	show,
	type World,
} from './history';
import { type Call, judgeRecord, linearise } from './linearise';
import { type Grant, Promises } from './promises';
import type { Move, Schedule } from './schedule';

/** Where a schedule is run. */
export interface Ground {
	/** Of client number so-and-so. */
	store(client: number): Store;
	/** The answers to the next statement are lost; the store finds out. */
	lossy(): Promise<{ readonly store: Store; loseAnswers(count: number): void }>;
	/** A client that can be dropped while it waits: its call ends at once, and `gone` when the server has done with it. */
	mortal(): Promise<{ readonly store: Store; drop(): Promise<void>; gone(): Promise<void> }>;
	newScope(): string;
	passTime(scope: string, ms: number): Promise<void>;
	remove(scope: string, eventId: string | null): Promise<void>;
}

export class Parted extends Error {
	override readonly name = 'Parted';
}

/** How many calls of a schedule had an effect that the promises could see; for tests of the test. */
export interface Tally {
	calls: number;
	ownerships: number;
	verdicts: Map<string, number>;
}

export async function runSchedule(ground: Ground, schedule: Schedule, clients: number, tally: Tally): Promise<void> {
	const scope = ground.newScope();
	const run = new Run(ground, scope, clients, tally);
	try {
		for (const [n, moves] of schedule.entries()) {
			await run.moment(moves).catch((error: unknown) => {
				if (error instanceof Parted) error.message = `moment ${n + 1}, ${moves.map(described).join(' | ')}: ${error.message}`;
				throw error;
			});
		}
		await run.bringToEnd();
	} finally {
		await ground.remove(scope, null);
	}
}

class Run {
	private world: World = nothing;
	private readonly actors: Actor[];
	private readonly promises = new Promises();
	/** What the answers of this moment mean for the promises, to be looked at when all are in. */
	private readonly seen: Array<{ readonly ended: number; look(): void }> = [];

	constructor(
		private readonly ground: Ground,
		private readonly scope: string,
		clients: number,
		private readonly tally: Tally,
	) {
		this.actors = Array.from({ length: clients }, (_, n) => new Actor(`client ${n}`, scope));
	}

	async moment(moves: readonly Move[]): Promise<void> {
		const [move] = moves;
		if (move && moves.length === 1) await this.alone(move);
		else await this.crowd(moves);
	}

	/** Whatever was left behind, recovery alone brings it to an end. */
	async bringToEnd(): Promise<void> {
		const open = (): boolean => [...this.world.slots.values()].some(({ record }) => record?.state === 'processing' || record?.state === 'failed');
		for (let round = 0; open(); round++) {
			if (round === 20) throw new Parted('a claimed event does not come to an end');
			await this.alone({ client: 0, do: 'wait', hours: 10 });
			await this.alone({ client: 0, do: 'recover', which: 'both', limit: 10, unfinished: 'take_over', maxAttempts: null, hours: 0.5 });
		}
		for (const [id, { record }] of this.world.slots) {
			const payload = await this.ground.store(0).findPayload({ scope: this.scope, provider: 'stripe', eventId: id });
			const saved = record?.payload ? { headers: record.payload.headers, body: record.payload.body } : null;
			if (!samePayload(payload, saved)) throw new Parted(`the payload of ${id} is ${show(payload)} instead of ${show(saved)}`);
		}
	}

	private async alone(move: Move): Promise<void> {
		const actor = this.actors[move.client] as Actor;
		if (move.do === 'forget') return actor.forget();
		if (move.do === 'wait') {
			this.world = passTime(this.world, move.hours * HOUR);
			return await this.ground.passTime(this.scope, move.hours * HOUR);
		}
		if (move.do === 'remove') return await this.retire(eventId(move.event));
		if (move.do === 'recover') {
			const search = actor.search(move);
			const call = await this.recovering(search, this.ground.store(move.client));
			this.lookAtPromises();
			this.accept(judgeRecovery(this.world, search, call.found));
			actor.learnRecovered(call.found);
		} else {
			const operation = actor.operation(move, this.world);
			if (!operation) return;
			const { answer } = await this.calling(operation, move);
			if (answer === null) throw new Parted('no answer, though nobody was in the way');
			this.lookAtPromises();
			// Where the answer was lost the store has asked again: what was done then is what the first call left to do.
			const again = move.fate === 'lost' ? judge(judge(this.world, operation, null).world, operation, answer) : null;
			this.accept(again?.fault === null ? again : judge(this.world, operation, answer));
			actor.learn(operation, answer);
		}
		const stored = await this.stored();
		for (const id of new Set([...this.world.slots.keys(), ...stored.keys()])) {
			this.accept(judgeRecord(this.world, id, stored.get(id) ?? null));
		}
	}

	private async crowd(moves: readonly Move[]): Promise<void> {
		const going: Array<() => Promise<Call[]>> = [];
		const settled: Array<() => Promise<void>> = [];
		for (const move of moves) {
			const actor = this.actors[move.client] as Actor;
			if (move.do === 'recover') {
				const search = actor.search(move);
				going.push(async () => {
					const { began, ended, found } = await this.recovering(search, this.ground.store(move.client));
					actor.learnRecovered(found);
					return found.map((one) => ({ began, ended, asked: { do: 'recover', ask: search }, answer: one as unknown as Answer }));
				});
				continue;
			}
			const operation = actor.operation(move, this.world);
			if (!operation) continue;
			const mortal = 'fate' in move && move.fate === 'dropped' ? await this.ground.mortal() : null;
			if (mortal) settled.push(mortal.gone);
			going.push(async () => {
				const calling = this.calling(operation, move, mortal?.store);
				if (mortal) await mortal.drop();
				const { began, ended, answer } = await calling;
				if (answer !== null) actor.learn(operation, answer);
				return [{ began, ended: answer === null ? Number.POSITIVE_INFINITY : ended, asked: operation, answer }];
			});
		}
		const calls = (await Promise.all(going.map(async (go) => await go()))).flat();
		for (const gone of settled) await gone();
		this.lookAtPromises();
		this.promises.endOfDoubt();
		const stored = await this.stored();
		const idOf = ({ asked, answer }: Call): string => (asked.do === 'recover' ? (answer as unknown as Recovered).key : asked.ask.key).eventId;
		for (const id of new Set([...this.world.slots.keys(), ...stored.keys(), ...calls.map(idOf)])) {
			this.accept(linearise(this.world, id, calls.filter((call) => idOf(call) === id), stored.get(id) ?? null));
		}
		// Which of two new records is the older one, only the store knows.
		this.world = { ...this.world, byAge: [...stored.keys()] };
	}

	private async calling(operation: Operation, move: Move, mortal?: Store): Promise<{ began: number; ended: number; answer: Answer | null }> {
		const lossy = 'fate' in move && move.fate === 'lost' ? await this.ground.lossy() : null;
		lossy?.loseAnswers(1);
		if (mortal && operation.do === 'reopen') this.promises.doubt(operation.ask.key.eventId);
		const began = this.promises.tick();
		const answer = await ask(mortal ?? lossy?.store ?? this.ground.store(move.client), operation).catch(async (error: unknown) => {
			if (mortal) return null;
			// A step is what the store does not ask again by itself.
			if (lossy && operation.do === 'advance') return await ask(lossy.store, operation);
			throw error;
		});
		const ended = this.promises.tick();
		lossy?.loseAnswers(0);
		this.tally.calls++;
		if (answer !== null) this.count(`${operation.do} ${String(answer['verdict'])}`);
		this.watch(operation, answer, began, ended);
		return { began, ended, answer };
	}

	private async recovering(search: RecoverySearch, store: Store): Promise<{ began: number; ended: number; found: readonly Recovered[] }> {
		const began = this.promises.tick();
		const found = await store.recover(search);
		const ended = this.promises.tick();
		this.tally.calls++;
		for (const { key, verdict, owner, fence } of found) {
			this.count(`recover ${verdict}`);
			if (owner === null || fence === null) continue;
			this.noteGrant(key.eventId, { owner, fence, leaseMs: search.leaseMs, began, ended, byPerson: false });
		}
		return { began, ended, found };
	}

	/** Notes what the answer says, without the reference. */
	private watch({ do: what, ask: asked }: Operation, answer: Answer | null, began: number, ended: number): void {
		const event = asked.key.eventId;
		const { verdict, state, fence } = answer ?? {};
		const note = (look: () => void, at = ended): unknown => this.seen.push({ ended: at, look });
		// Whether it was before or after what else has happened, it began here.
		if (what === 'settle' && verdict !== 'fenced_out') note(() => this.promises.released(event, asked.fence, began), began);
		if (what === 'extend' && verdict === 'extended') {
			const until = this.world.now + asked.leaseMs;
			note(() => this.promises.extended(event, asked.fence, until));
		}
		if ((what === 'claim' || what === 'reopen') && typeof fence === 'string') {
			const leaseMs = state === 'processing' ? asked.leaseMs : Number.NEGATIVE_INFINITY;
			this.noteGrant(event, { owner: asked.owner, fence, leaseMs, began, ended, byPerson: what === 'reopen' });
		}
		const over = (what === 'claim' && verdict === 'completed') || (what === 'settle' && isEnd(asked) && verdict !== 'fenced_out');
		if (answer !== null && (over || (what === 'resolve' && state === 'completed' && verdict === 'resolved'))) {
			note(() => this.promises.completed(event, began, ended));
		}
	}

	private noteGrant(event: string, { leaseMs, ...grant }: Omit<Grant, 'now' | 'until' | 'released'> & { readonly leaseMs: number }): void {
		this.tally.ownerships++;
		const { now } = this.world;
		const look = (): void => {
			const fault = this.promises.granted(event, { ...grant, now, until: now + leaseMs, released: Number.POSITIVE_INFINITY });
			if (fault !== null) throw new Parted(fault);
		};
		this.seen.push({ ended: grant.ended, look });
	}

	private lookAtPromises(): void {
		for (const { look } of this.seen.splice(0).sort((one, other) => one.ended - other.ended)) look();
	}

	/** Records of the scope, oldest first. */
	private async stored(): Promise<Map<string, StoredClaim>> {
		const any = { states: [], provider: null, eventType: null, fromMs: null, toMs: null, executionId: null };
		const found = await this.ground.store(0).list({ ...any, scope: this.scope, limit: 1000 });
		return new Map([...found].reverse().map((one) => [one.key.eventId, one]));
	}

	private async retire(id: string): Promise<void> {
		const state = recordOf(this.world, id)?.state;
		if (state !== 'completed' && state !== 'dead') return;
		await this.ground.remove(this.scope, id);
		this.world = remove(this.world, id);
		this.promises.removed(id);
	}

	private accept({ world, fault }: Judged): void {
		if (fault !== null) throw new Parted(fault);
		this.world = world;
	}

	private count(what: string): void {
		this.tally.verdicts.set(what, (this.tally.verdicts.get(what) ?? 0) + 1);
	}
}

async function ask(store: Store, { do: what, ask: asked }: Operation): Promise<Answer> {
	const calls = {
		claim: async () => await store.claim([asked as never]),
		settle: async () => await store.settle([asked as never]),
		extend: async () => await store.extend([asked as never]),
		advance: async () => await store.advance([asked as never]),
		reopen: async () => await store.reopen([asked as never]),
		resolve: async () => await store.resolve([asked as never]),
	};
	const [answer] = (await calls[what]()) as unknown as Answer[];
	if (!answer) throw new Parted('no answer at all');
	return answer;
}

function isEnd({ to }: Settle): boolean {
	return to.state === 'completed';
}
