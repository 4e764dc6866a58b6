/** Turns the plain moves of a schedule into what is really asked, with the tokens and receipts that the clients have by then. */
import { randomBytes } from 'node:crypto';
import type { Ownership, Recovered, RecoverySearch } from '../../node-package/src/store/lifecycle';
import type { EventKey } from '../../node-package/src/store/store';
import type { Answer, Operation, World } from './history';
import { recordOf } from './history';
import { UNKNOWN } from './reference';
import type { Act, Move } from './schedule';

export const HOUR = 3_600_000;
export const STAGES = ['claimed', 'charged', 'fulfilled'] as const;

interface Receipt {
	readonly owner: string;
	readonly fence: string;
}

export class Actor {
	private tokens: string[] = [];
	private receipts = new Map<string, Receipt[]>();

	constructor(
		private readonly name: string,
		private readonly scope: string,
	) {}

	/** `null`: it has nothing to do that with. */
	operation(act: Act, world: World): Operation | null {
		switch (act.do) {
			case 'claim':
				return {
					do: 'claim',
					ask: {
						key: this.key(act.event),
						eventType: 'invoice.paid',
						owner: this.token(act.token),
						bodyDigest: act.body === null ? null : `sha256:${String(act.body).repeat(64)}`,
						leaseMs: act.hours * HOUR,
						maxAttempts: act.maxAttempts,
						unfinished: act.unfinished,
						payloadChanged: act.reject ? 'reject' : 'duplicate',
						guards: [],
						executionId: this.name,
						...(act.version !== null && { subject: { key: 'object', version: `${act.version}` } }),
						...(act.payload !== null && { payload: { keep: act.payload, headers: [['x-by', this.name]], body: new Uint8Array(randomBytes(4)) } }),
					},
				};
			case 'settle': {
				const held = this.receipt(act);
				if (!held) return null;
				const failed = { retryAfterMs: act.hours * HOUR, maxAttempts: act.maxAttempts };
				const done = { result: { by: this.name }, resumed: act.resumed };
				const to = { completed: done, failed: { error: 'HTTP 503', ...failed }, uncertain: { error: 'timeout' }, dead: { error: 'HTTP 410' } };
				return { do: 'settle', ask: { ...held, to: { state: act.to, ...to[act.to] } as never } };
			}
			case 'extend': {
				const held = this.receipt(act);
				return held && { do: 'extend', ask: { ...held, leaseMs: act.hours * HOUR } };
			}
			case 'advance': {
				const held = this.receipt(act);
				const step = { stage: STAGES[act.stage] as string, stages: STAGES };
				return held && { do: 'advance', ask: { ...held, ...step } };
			}
			case 'reopen': {
				const order = { owner: this.token(act.token), leaseMs: act.hours * HOUR, reason: 'once more', executionId: this.name };
				return { do: 'reopen', ask: { key: this.key(act.event), ...order } };
			}
			case 'resolve': {
				const known = recordOf(world, eventId(act.event))?.fence ?? null;
				const own = this.receipts.get(eventId(act.event))?.[0]?.fence ?? '1';
				const fence = act.look === 'never' || (act.look === 'now' && known === UNKNOWN) ? null : act.look === 'now' ? known : own;
				const wait = act.to === 'failed' ? { retryAfterMs: act.hours * HOUR } : {};
				const to = { state: act.to, ...wait } as never;
				return { do: 'resolve', ask: { key: this.key(act.event), fence, to, reason: 'looked it up' } };
			}
			default:
				return null;
		}
	}

	search({ which, limit, unfinished, maxAttempts, hours }: Act & { readonly do: 'recover' }): RecoverySearch {
		const owners = Array.from({ length: limit }, () => randomBytes(16).toString('hex'));
		const terms = { leaseMs: hours * HOUR, maxAttempts, unfinished, executionId: this.name };
		return { which, limit, owners, scope: this.scope, provider: null, ...terms };
	}

	learn({ do: what, ask }: Operation, answer: Answer): void {
		const fence = answer['fence'];
		if ((what === 'claim' || what === 'reopen') && typeof fence === 'string') this.keep(ask.key.eventId, { owner: ask.owner, fence });
	}

	learnRecovered(found: readonly Recovered[]): void {
		for (const { key, owner, fence } of found) if (owner !== null && fence !== null) this.keep(key.eventId, { owner, fence });
	}

	forget(): void {
		this.tokens = [];
		this.receipts = new Map();
	}

	private keep(event: string, receipt: Receipt): void {
		const known = this.receipts.get(event) ?? [];
		if (known[0]?.fence !== receipt.fence) this.receipts.set(event, [receipt, ...known]);
	}

	/** Of the event, if it has one for it, or of another one. */
	private receipt({ event, receipt }: { readonly event: number; readonly receipt: number }): Ownership | null {
		const id = this.receipts.has(eventId(event)) ? eventId(event) : [...this.receipts.keys()][0];
		const receipts = this.receipts.get(id ?? '') ?? [];
		const one = receipts[Math.min(receipt, receipts.length - 1)];
		return one && id !== undefined ? { key: { ...this.key(event), eventId: id }, ...one } : null;
	}

	private token(which: number): string {
		const known = this.tokens[which - 1];
		if (known !== undefined) return known;
		const token = randomBytes(16).toString('hex');
		this.tokens = [token, ...this.tokens];
		return token;
	}

	private key(event: number): EventKey {
		return { scope: this.scope, provider: 'stripe', eventId: eventId(event) };
	}
}

export function eventId(event: number): string {
	return `e${event}`;
}

/** A line for people. */
export function described({ client, ...act }: Move): string {
	const { do: what, ...details } = act as Record<string, unknown>;
	const terms = Object.entries(details).map(([name, value]) => `${name} ${String(value)}`);
	return `client ${client}: ${String(what)} ${terms.join(', ')}`.trim();
}
