/** Schedules: what several clients do to a few events, as plain data, so that one can be replayed and made shorter. */

/** Those in one moment are sent at once, each by another client. */
export type Schedule = ReadonlyArray<readonly Move[]>;

export type Move = { readonly client: number } & Act;

export type Act =
	| {
			readonly do: 'claim';
			readonly event: number;
			/** Which of the client's owner tokens: 0 is a new one, 1 the last one, and so on. */
			readonly token: number;
			readonly unfinished: 'take_over' | 'hold' | 'complete_on_claim';
			readonly maxAttempts: number;
			readonly hours: number;
			readonly body: number | null;
			readonly reject: boolean;
			readonly version: number | null;
			readonly payload: 'until_completed' | 'always' | null;
			readonly fate: Fate;
	  }
	| {
			readonly do: 'settle';
			readonly event: number;
			/** Which of the client's receipts for the event: 0 is the last one. Where it has none, for another event. */
			readonly receipt: number;
			readonly to: 'completed' | 'failed' | 'uncertain' | 'dead';
			readonly resumed: boolean;
			readonly hours: number;
			readonly maxAttempts: number | null;
			readonly fate: Fate;
	  }
	| { readonly do: 'extend'; readonly event: number; readonly receipt: number; readonly hours: number; readonly fate: Fate }
	| { readonly do: 'advance'; readonly event: number; readonly receipt: number; readonly stage: number; readonly fate: Fate }
	| {
			readonly do: 'recover';
			readonly which: 'stale' | 'failed' | 'both';
			readonly limit: number;
			readonly unfinished: 'take_over' | 'hold';
			readonly maxAttempts: number | null;
			readonly hours: number;
	  }
	| { readonly do: 'reopen'; readonly event: number; readonly token: number; readonly hours: number; readonly fate: Fate }
	| {
			readonly do: 'resolve';
			readonly event: number;
			readonly look: 'now' | 'never' | 'at_own';
			readonly to: 'completed' | 'failed' | 'dead';
			readonly hours: number;
			readonly fate: Fate;
	  }
	/** Time passes for everybody. */
	| { readonly do: 'wait'; readonly hours: number }
	/** Retention. */
	| { readonly do: 'remove'; readonly event: number }
	/** The client starts anew: it has no tokens and no receipts. */
	| { readonly do: 'forget' };

/** `answered`; `lost`: the answer is, and the client asks again; `dropped`: the client is gone before it hears anything. */
export type Fate = 'answered' | 'lost' | 'dropped';

export interface Size {
	readonly clients: number;
	readonly events: number;
	readonly moments: number;
	/** How many of a hundred moments are crowded. */
	readonly crowded: number;
}

type Roll = (sides: number) => number;

export function randomSchedule(roll: Roll, { clients, events, moments, crowded }: Size): Schedule {
	return Array.from({ length: moments }, () => {
		if (roll(100) >= crowded) return [{ client: roll(clients), ...anyAct(roll, events, crowded === 0) }];
		// All at one or two events, or there would be no race.
		const near = 1 + roll(Math.min(2, events));
		const crowd = 2 + roll(clients - 1);
		return Array.from({ length: crowd }, (_, client) => ({ client, ...crowdedAct(roll, near) }));
	});
}

function anyAct(roll: Roll, events: number, versions: boolean): Act {
	const weight = roll(100);
	if (weight < 12) return { do: 'wait', hours: 1 + roll(4) };
	if (weight < 15) return { do: 'remove', event: roll(events) };
	if (weight < 17) return { do: 'forget' };
	return act(roll, events, roll(12) === 0 ? 'lost' : 'answered', versions);
}

function crowdedAct(roll: Roll, events: number): Act {
	return act(roll, events, roll(12) === 0 ? 'dropped' : 'answered', false);
}

function act(roll: Roll, events: number, fate: Fate, versions: boolean): Act {
	const event = roll(events);
	const hours = oneOf(roll, [0.5, 1.5, 3.5]);
	const receipt = oneOf(roll, [0, 0, 0, 1, 2]);
	const weight = roll(100);
	if (weight < 40) {
		return {
			do: 'claim',
			event,
			token: oneOf(roll, [0, 0, 1, 1, 2]),
			unfinished: oneOf(roll, ['take_over', 'take_over', 'take_over', 'take_over', 'hold', 'complete_on_claim'] as const),
			maxAttempts: 1 + roll(4),
			hours,
			body: oneOf(roll, [null, 0, 0, 1]),
			reject: roll(4) === 0,
			// Versions are not one record's affair, and in crowds each record is judged by itself.
			version: versions && roll(3) === 0 ? 1 + roll(4) : null,
			payload: oneOf(roll, [null, null, 'until_completed', 'always'] as const),
			fate,
		};
	}
	if (weight < 66) {
		return {
			do: 'settle',
			event,
			receipt,
			to: oneOf(roll, ['completed', 'completed', 'failed', 'failed', 'failed', 'uncertain', 'dead'] as const),
			resumed: roll(3) === 0,
			hours: oneOf(roll, [0, 0, 1.5]),
			maxAttempts: oneOf(roll, [null, null, 1, 3]),
			fate,
		};
	}
	if (weight < 72) return { do: 'extend', event, receipt, hours, fate };
	if (weight < 78) return { do: 'advance', event, receipt, stage: roll(3), fate };
	if (weight < 88) {
		const which = oneOf(roll, ['stale', 'failed', 'both'] as const);
		const unfinished = oneOf(roll, ['take_over', 'take_over', 'hold'] as const);
		return { do: 'recover', which, limit: 1 + roll(3), unfinished, maxAttempts: oneOf(roll, [null, null, 2]), hours };
	}
	if (weight < 94) return { do: 'reopen', event, token: roll(2), hours, fate };
	const look = oneOf(roll, ['now', 'never', 'at_own'] as const);
	return { do: 'resolve', event, look, to: oneOf(roll, ['completed', 'failed', 'dead'] as const), hours: oneOf(roll, [0, 1.5]), fate };
}

function oneOf<Some>(roll: Roll, some: readonly Some[]): Some {
	return some[roll(some.length)] as Some;
}
