import type { EventKey } from '../store';
import { keyText } from './checks';

/** An event key as it crosses to the statements. */
export interface WireKey {
	readonly scope: string;
	readonly provider: string;
	readonly event_id: string;
}

export function wireKey({ scope, provider, eventId }: EventKey): WireKey {
	return {
		scope: keyText('The scope', scope, 512),
		provider: keyText('The provider', provider, 200),
		event_id: keyText('The event ID', eventId, 512),
	};
}

/** The same text for the same key and no other: no field can hold NUL. */
export function keyName({ scope, provider, event_id }: WireKey): string {
	return `${scope}\0${provider}\0${event_id}`;
}

/**
 * In the order in which every statement locks: by the bytes of scope, provider and event ID, as `COLLATE "C"` compares
 * them. What has the same key stays in its order.
 */
export function inKeyOrder<Item>(items: readonly Item[], keyOf: (item: Item) => WireKey): Item[] {
	return items
		.map((item) => ({ item, bytes: Buffer.from(keyName(keyOf(item))) }))
		.sort((a, b) => Buffer.compare(a.bytes, b.bytes))
		.map(({ item }) => item);
}

/** The others of the same name come after them, in a statement of their own. */
export function firstOfEach<Ask>(open: ReadonlyMap<number, Ask>, nameOf: (ask: Ask) => string): Array<[number, Ask]> {
	const firsts = new Map<string, [number, Ask]>();
	for (const entry of open) if (!firsts.has(nameOf(entry[1]))) firsts.set(nameOf(entry[1]), entry);
	return [...firsts.values()];
}
