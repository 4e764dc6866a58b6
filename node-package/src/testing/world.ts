import type { ClaimAsk, EventKey, Store } from '../store/store';

/** A promise that every store must keep, as something that can be run. Framework-free: it throws where it is broken. */
export interface Law {
	readonly name: string;
	/** The hazard it stands against, or the transition it shows, e.g. `H5`, `T4`. */
	readonly hazard: string;
	/** What the world must be able to do for it. A store whose world cannot is reported as skipped, by name. */
	readonly needs?: readonly Capability[];
	run(world: World): Promise<void>;
}

export type Capability =
	| 'lost_answers'
	| 'open_transactions'
	| 'other_isolation'
	| 'deletion'
	| 'fresh_places'
	| 'passing_time'
	| 'write_position';

/** A place with one store's records, and what a law needs to make trouble there. */
export interface World {
	readonly name: string;
	/** Why a capability is missing. */
	readonly lacks: Readonly<Partial<Record<Capability, string>>>;

	/** Never used before, so that laws do not meet in the same place. */
	newScope(): string;
	/** Another client of the same place, as another process would be. Closed by the world after the law. */
	open(options?: OpenOptions): Promise<Store>;
	/** Now, by the store's clock, ms since the epoch. */
	now(): Promise<number>;

	/** `lost_answers`: a client whose answers can be lost on the way after the store has carried out what was asked. */
	openLossy?(): Promise<{ readonly store: Store; loseAnswers(count: number): void; lost(): number }>;
	/** `open_transactions`: claims in a transaction that stays open until told. */
	holdOpen?(asks: readonly ClaimAsk[]): Promise<OpenTransaction>;
	/** `open_transactions`: how many clients wait for somebody else's transaction at the moment. */
	waiting?(): Promise<number>;
	/** `deletion`: removes a record, as retention does. */
	remove?(key: EventKey): Promise<void>;
	/** `fresh_places`: a way to open unprepared clients of a place where nothing has been prepared yet. */
	freshPlace?(): Promise<{ open(): Promise<Store> }>;
	/** `passing_time`: as if so much time had passed for all leases and waits. What has ended keeps its times. */
	passTime?(ms: number): Promise<void>;
	/** `write_position`: grows with every write that the store makes durable. */
	writePosition?(): Promise<bigint>;
}

export interface OpenOptions {
	/** How many connections the client may use for claims. Default 1. */
	readonly lanes?: number;
	readonly patienceMs?: number;
	readonly lockTimeoutMs?: number;
	/** `other_isolation`: what an administrator may have set as the default. */
	readonly isolation?: 'repeatable read' | 'serializable';
}

export interface OpenTransaction {
	/** Asks within the transaction, as an application does that hands in its own client. */
	readonly store: Store;
	commit(): Promise<void>;
	rollback(): Promise<void>;
	/** The client dies without a word. */
	kill(): Promise<void>;
}
