/**
 * What must hold whatever happens, judged from the answers alone, without the reference: should both it and the store be
 * wrong in the same way, this still sees it.
 */
export class Promises {
	private readonly grants = new Map<string, Grant[]>();
	/** Events that somebody was told are completed, and when. */
	private readonly done = new Map<string, number>();
	private readonly reopened = new Map<string, number>();
	private readonly doubtful = new Set<string>();
	private turn = 0;

	/** A point in time, for the beginnings and ends of calls. */
	tick(): number {
		return ++this.turn;
	}

	/** Somebody was handed out an event, by a claim, a recovery or a person. Gives the promise that is broken by it. */
	granted(event: string, grant: Grant): string | null {
		const known = this.grants.get(event) ?? [];
		const before = known.filter(({ ended }) => ended < grant.began);
		this.grants.set(event, [...known.filter(({ fence }) => fence !== grant.fence), grant]);
		if (before.some(({ fence, owner }) => fence === grant.fence && owner === grant.owner)) return null;
		if (known.some(({ fence, owner }) => fence === grant.fence && owner !== grant.owner)) return `two owners of ${event} have the fence ${grant.fence}`;
		if (before.some(({ fence }) => BigInt(fence) >= BigInt(grant.fence))) return `the fence of ${event} did not grow`;
		const rival = before.find(({ until, released }) => until > grant.now && released > grant.ended);
		if (rival) return `${event} has two live owners, ${rival.fence} and ${grant.fence}`;
		const done = this.done.get(event);
		if (!grant.byPerson && done !== undefined && done < grant.began) return `${event} was completed, and is handed out again`;
		if (grant.byPerson) {
			this.done.delete(event);
			this.reopened.set(event, grant.ended);
		}
		return null;
	}

	/** An owner has ended its claim, or may have. */
	released(event: string, fence: string, began: number): void {
		for (const grant of this.grants.get(event) ?? []) if (grant.fence === fence) grant.released = Math.min(grant.released, began);
	}

	extended(event: string, fence: string, until: number): void {
		for (const grant of this.grants.get(event) ?? []) if (grant.fence === fence) grant.until = until;
	}

	/** Somebody was told that it is completed. Says nothing where a person was reopening it at the same time. */
	completed(event: string, began: number, ended: number): void {
		if (this.done.has(event) || this.doubtful.has(event) || (this.reopened.get(event) ?? 0) > began) return;
		this.done.set(event, ended);
	}

	/** A person may reopen it, and nobody will hear of that. */
	doubt(event: string): void {
		this.doubtful.add(event);
		this.done.delete(event);
	}

	/** Nothing is under way any more. */
	endOfDoubt(): void {
		this.doubtful.clear();
	}

	removed(event: string): void {
		this.done.delete(event);
		for (const grant of this.grants.get(event) ?? []) grant.released = 0;
	}
}

export interface Grant {
	readonly owner: string;
	readonly fence: string;
	/** When it was asked for and answered, by `tick`. */
	readonly began: number;
	readonly ended: number;
	/** By the clock of the schedule. */
	readonly now: number;
	readonly byPerson: boolean;
	until: number;
	/** When the owner began to end it. */
	released: number;
}
