import { StoreError } from '../errors';

/**
 * Gathers what many callers ask at the same time into few statements, without a timer: a lane that is free takes all that
 * has queued up meanwhile. A lone ask finds a free lane and goes at once.
 *
 * No caller can harm another one:
 * - asks that share a key (see `keysOf`) travel together or one after the other, never side by side: a key that is
 *   stuck occupies one lane only;
 * - where a batch fails because of one of its members, each member is sent again alone;
 * - a caller whose patience ends is told so at once, and the others keep waiting for their answers.
 */
export class Gatherer<Ask, Reply> {
	private readonly queue: Array<Entry<Ask, Reply>> = [];
	private readonly keysInFlight = new Set<string>();
	private readonly calls = new Set<Call<Ask, Reply>>();
	private freeLanes: number;
	private looking = false;
	private closed: StoreError | null = null;

	constructor(private readonly options: GatherOptions<Ask, Reply>) {
		this.freeLanes = options.lanes;
	}

	/** One reply per ask, in order. Rejects as a whole; asks that were answered until then stay answered in the store. */
	async submit(asks: readonly Ask[]): Promise<Reply[]> {
		if (this.closed) throw this.closed;
		if (asks.length === 0) return [];
		return await new Promise((resolve, reject) => {
			const call = new Call<Ask, Reply>(asks, this.options.keysOf, resolve, reject);
			this.calls.add(call);
			call.ended = () => this.calls.delete(call);
			call.patience = setTimeout(() => this.giveUp(call, this.options.outOfPatience()), this.options.patienceMs);
			this.queue.push(...call.entries);
			this.look();
		});
	}

	/** Ends everything at once: what waits, what is under way, and what is submitted from now on. */
	close(reason: StoreError): void {
		this.closed ??= reason;
		for (const call of [...this.calls]) this.giveUp(call, reason);
	}

	private giveUp(call: Call<Ask, Reply>, reason: StoreError): void {
		const flights = new Set(call.entries.flatMap(({ flight }) => flight ?? []));
		call.fail(reason);
		for (const flight of flights) flight.abandonIfDeserted();
		this.look();
	}

	/** At the end of the present tick, so that all that is asked in one go travels in one go. No time passes. */
	private look(): void {
		if (this.looking) return;
		this.looking = true;
		queueMicrotask(() => {
			this.looking = false;
			while (this.freeLanes > 0) {
				const batch = this.takeBatch();
				if (batch.length === 0) return;
				void this.fly(batch);
			}
		});
	}

	private takeBatch(): Array<Entry<Ask, Reply>> {
		const batch: Array<Entry<Ask, Reply>> = [];
		const left: Array<Entry<Ask, Reply>> = [];
		for (const entry of this.queue) {
			if (entry.call.over) continue;
			const conflict = entry.keys.some((key) => this.keysInFlight.has(key));
			const full = batch.length > 0 && (entry.alone || batch[0]?.alone === true || this.isFull(batch, entry));
			(conflict || full ? left : batch).push(entry);
		}
		this.queue.splice(0, this.queue.length, ...left);
		return batch;
	}

	/** A large call still travels whole: it was promised one round trip. */
	private isFull(batch: ReadonlyArray<Entry<Ask, Reply>>, next: Entry<Ask, Reply>): boolean {
		return batch.length >= this.options.maxBatch && batch[batch.length - 1]?.call !== next.call;
	}

	private async fly(entries: Array<Entry<Ask, Reply>>): Promise<void> {
		this.freeLanes--;
		for (const { keys } of entries) for (const key of keys) this.keysInFlight.add(key);
		const flight = new Flight(entries);
		for (const entry of entries) entry.flight = flight;
		try {
			const sent = this.options.send(
				entries.map(({ ask }) => ask),
				(index, reply) => entries[index]?.answer(reply),
				flight.abandoned,
			);
			await Promise.race([sent, flight.desertion]);
			for (const entry of entries) if (!entry.answered) entry.call.fail(unanswered());
		} catch (error) {
			this.land(entries.filter(({ answered, call }) => !answered && !call.over), error);
		} finally {
			for (const entry of entries) entry.flight = null;
			for (const { keys } of entries) for (const key of keys) this.keysInFlight.delete(key);
			this.freeLanes++;
			this.look();
		}
	}

	private land(unanswered: Array<Entry<Ask, Reply>>, error: unknown): void {
		if (unanswered.length > 1 && error instanceof OneOfMany) {
			for (const entry of unanswered) entry.alone = true;
			this.queue.unshift(...unanswered);
			return;
		}
		const reason = error instanceof OneOfMany ? error.error : error;
		for (const { call } of unanswered) call.fail(reason);
	}
}

export interface GatherOptions<Ask, Reply> {
	/** How many batches may be under way: connections, in other words. */
	readonly lanes: number;
	/** No more callers' asks are added to a batch of this size. */
	readonly maxBatch: number;
	/** After this time a call ends with `outOfPatience`, whatever is under way. */
	readonly patienceMs: number;
	readonly outOfPatience: () => StoreError;
	/** What must not be asked on two lanes at the same time. */
	readonly keysOf: (ask: Ask) => readonly string[];
	/**
	 * Sends a batch and reports each reply as soon as it is known. Throws `OneOfMany` where one member is to blame.
	 * `abandoned` fires when nobody waits for the rest any more.
	 */
	readonly send: (
		asks: readonly Ask[],
		answer: (index: number, reply: Reply) => void,
		abandoned: AbortSignal,
	) => Promise<void>;
}

/** One member of the batch is to blame, but not which. */
export class OneOfMany extends Error {
	constructor(readonly error: StoreError) {
		super(error.message);
	}
}

class Call<Ask, Reply> {
	readonly entries: ReadonlyArray<Entry<Ask, Reply>>;
	over = false;
	patience: NodeJS.Timeout | undefined;
	ended: () => void = () => {};
	private readonly replies: Reply[];
	private open: number;

	constructor(
		asks: readonly Ask[],
		keysOf: (ask: Ask) => readonly string[],
		private readonly resolve: (replies: Reply[]) => void,
		private readonly reject: (error: unknown) => void,
	) {
		this.entries = asks.map((ask, index) => new Entry(this, index, ask, keysOf(ask)));
		this.replies = new Array<Reply>(asks.length);
		this.open = asks.length;
	}

	succeed(index: number, reply: Reply): void {
		this.replies[index] = reply;
		this.open--;
		if (this.open === 0 && this.end()) this.resolve(this.replies);
	}

	fail(error: unknown): void {
		if (this.end()) this.reject(error);
	}

	private end(): boolean {
		if (this.over) return false;
		this.over = true;
		clearTimeout(this.patience);
		this.ended();
		return true;
	}
}

class Entry<Ask, Reply> {
	answered = false;
	alone = false;
	flight: Flight<Ask, Reply> | null = null;

	constructor(
		readonly call: Call<Ask, Reply>,
		private readonly index: number,
		readonly ask: Ask,
		readonly keys: readonly string[],
	) {}

	answer(reply: Reply): void {
		if (this.answered) return;
		this.answered = true;
		this.call.succeed(this.index, reply);
	}
}

class Flight<Ask, Reply> {
	private readonly controller = new AbortController();
	readonly abandoned = this.controller.signal;
	/** Fulfilled when nobody waits any more: the lane is free again, however long the driver takes to notice. */
	readonly desertion: Promise<void>;

	constructor(private readonly entries: ReadonlyArray<Entry<Ask, Reply>>) {
		this.desertion = new Promise((resolve) => this.abandoned.addEventListener('abort', () => resolve()));
	}

	abandonIfDeserted(): void {
		if (this.entries.every(({ answered, call }) => answered || call.over)) this.controller.abort();
	}
}

function unanswered(): StoreError {
	const help = 'Please report this as a bug. Nothing is known about the claim.';
	return new StoreError('store_unavailable', 'The store gave fewer answers than it was asked', help);
}
