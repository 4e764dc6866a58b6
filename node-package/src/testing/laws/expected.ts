import type { Extension, Ownership, RecoverySearch, Reopening, Resolution } from '../../store/lifecycle';
import type { ClaimAsk, EventKey, Settle } from '../../store/store';
import type { State } from '../../wasm/generated/vocabulary';
import { HOUR } from './cast';

interface Known {
	state: State;
	owner: string;
	fence: string;
	attempt: number;
	/** Whether the lease or the wait still runs at the next step; `null` where there is none. */
	live: boolean | null;
	hold: boolean;
	maxAttempts: number;
	stage: string | null;
}

/**
 * What a store should answer to one caller who does one thing after another in one scope, and whose leases either last for
 * ever or are over at the next step. Fences are the store's own: whoever receives one says so.
 */
export class Expected {
	private readonly records = new Map<string, Known>();

	claim(asked: ClaimAsk): [verdict: string, state: string, attempt: number, stage: string | null] {
		const known = this.at(asked.key);
		const fresh: Known = {
			...{ state: 'failed', owner: '', fence: '0', attempt: 0, live: false },
			...{ hold: false, maxAttempts: 5, stage: null },
		};
		const record = known ?? fresh;
		this.records.set(asked.key.eventId, record);
		const verdict = this.judge(record, asked, known === undefined);
		if (['claimed', 'retried', 'taken_over'].includes(verdict)) {
			const done = asked.unfinished === 'complete_on_claim';
			record.attempt++;
			record.owner = asked.owner;
			record.state = done ? 'completed' : 'processing';
			record.live = done ? null : asked.leaseMs === HOUR;
			record.hold ||= asked.unfinished === 'hold';
			record.maxAttempts = asked.maxAttempts;
		}
		if (verdict === 'reentrant' && record.state === 'processing') record.live = asked.leaseMs === HOUR;
		if (verdict === 'exhausted') this.end(record, 'dead');
		if (verdict === 'held') this.end(record, 'uncertain');
		return [verdict, record.state, record.attempt, record.stage];
	}

	settle(receipt: Ownership, to: Settle['to']): [verdict: string, state: string] {
		const record = this.known(receipt.key);
		if (!this.isOwner(record, receipt)) return ['fenced_out', record.state];
		const usedUp = to.state === 'failed' && record.attempt >= (to.maxAttempts ?? record.maxAttempts);
		const target = usedUp ? 'dead' : to.state;
		const open = record.state === 'processing' || (record.state === 'failed' && to.state === 'completed' && to.resumed === true);
		if (!open) return [record.state === target ? 'already' : 'fenced_out', record.state];
		const verdict = record.state === 'processing' && !record.live ? 'late' : 'settled';
		this.end(record, target);
		if (target === 'failed' && to.state === 'failed') record.live = to.retryAfterMs !== 0;
		return [verdict, target];
	}

	extend(receipt: Ownership, leaseMs: Extension['leaseMs']): [verdict: string, state: string] {
		const record = this.known(receipt.key);
		if (!this.isOwner(record, receipt) || record.state !== 'processing') return ['fenced_out', record.state];
		record.live = leaseMs === HOUR;
		return ['extended', record.state];
	}

	advance(
		receipt: Ownership,
		stage: string,
		stages: readonly string[],
	): [verdict: string, state: string, before: string | null, after: string | null] {
		const record = this.known(receipt.key);
		const before = record.stage;
		const answer = (verdict: string): ReturnType<Expected['advance']> => [verdict, record.state, before, record.stage];
		if (!this.isOwner(record, receipt) || record.state !== 'processing') return answer('fenced_out');
		if (before !== null && !stages.includes(before)) return answer('unknown_stage');
		if (before !== null && stages.indexOf(before) >= stages.indexOf(stage)) return answer('already_there');
		record.stage = stage;
		return answer('advanced');
	}

	recover(search: RecoverySearch): Array<[eventId: string, verdict: string, state: string, attempt: number, stage: string | null]> {
		const wanted = search.which === 'both' ? ['processing', 'failed'] : [search.which === 'stale' ? 'processing' : 'failed'];
		const due = [...this.records].filter(([, { state, live }]) => wanted.includes(state) && live === false);
		return due.slice(0, search.limit).map(([eventId, record]) => {
			const stale = record.state === 'processing';
			if (stale && (record.hold || search.unfinished === 'hold')) {
				this.end(record, 'uncertain');
				return [eventId, 'held', record.state, record.attempt, record.stage];
			}
			if (record.attempt >= (search.maxAttempts ?? record.maxAttempts)) {
				this.end(record, 'dead');
				return [eventId, 'exhausted', record.state, record.attempt, record.stage];
			}
			record.state = 'processing';
			record.attempt++;
			record.live = search.leaseMs === HOUR;
			return [eventId, stale ? 'taken_over' : 'retried', record.state, record.attempt, record.stage];
		});
	}

	/** `same`: the claim is the caller's already. */
	reopen({ key, owner, leaseMs }: Reopening): [string, string | null, number | null, string | null, 'same' | 'new' | null] {
		const record = this.at(key);
		if (!record) return ['not_found', null, null, null, null];
		const same = record.state === 'processing' && record.owner === owner;
		const finished = record.state !== 'processing' && record.state !== 'failed';
		if (!same && !finished) return ['not_finished', record.state, null, null, null];
		if (!same) record.attempt++;
		Object.assign(record, { state: 'processing', owner, live: leaseMs === HOUR });
		return ['reopened', record.state, record.attempt, record.stage, same ? 'same' : 'new'];
	}

	resolve({ key, fence, to }: Resolution): [verdict: string, state: string | null] {
		const record = this.at(key);
		if (!record) return ['not_found', null];
		if (fence !== null && fence !== record.fence) return ['fenced_out', record.state];
		if (record.state !== 'uncertain') return [record.state === to.state ? 'already' : 'not_uncertain', record.state];
		this.end(record, to.state);
		if (to.state === 'failed') record.live = to.retryAfterMs !== 0;
		return ['resolved', record.state];
	}

	/** Takes note of a fence; gives the one before. */
	fence(key: EventKey, fence: string): string {
		const record = this.known(key);
		const before = record.fence;
		record.fence = fence;
		return before;
	}

	/** Takes note of the owner token that a recovery gave out. */
	owner(key: EventKey, owner: string): void {
		this.known(key).owner = owner;
	}

	shortLeases(): string[] {
		return [...this.records].filter(([, { live }]) => live === false).map(([eventId]) => eventId);
	}

	private judge(record: Known, asked: ClaimAsk, fresh: boolean): string {
		if (!fresh && record.owner === asked.owner) {
			if (record.state === 'completed' && asked.unfinished === 'complete_on_claim') return 'reentrant';
			if (record.state === 'processing') return 'reentrant';
		}
		if (record.state === 'completed' || record.state === 'dead' || record.state === 'uncertain') return record.state;
		if (record.live) return record.state === 'processing' ? 'in_progress' : 'backoff';
		if (record.state === 'processing' && (record.hold || asked.unfinished === 'hold')) return 'held';
		if (record.attempt >= asked.maxAttempts) return 'exhausted';
		if (fresh) return 'claimed';
		return record.state === 'failed' ? 'retried' : 'taken_over';
	}

	private end(record: Known, state: State): void {
		record.state = state;
		record.live = null;
	}

	private isOwner(record: Known, { owner, fence }: Ownership): boolean {
		return record.owner === owner && record.fence === fence;
	}

	private at({ eventId }: EventKey): Known | undefined {
		return this.records.get(eventId);
	}

	private known(key: EventKey): Known {
		return this.records.get(key.eventId) as Known;
	}
}
