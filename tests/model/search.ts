/** Many schedules, one after another, until one parts from the reference; that one made as short as it can be. */
import { dice } from '../../node-package/src/testing/laws/cast';
import { described } from './actors';
import { type Ground, Parted, runSchedule, type Tally } from './run';
import { randomSchedule, type Schedule, type Size } from './schedule';

export interface Found {
	readonly seed: number;
	readonly fault: string;
	readonly shortest: Schedule;
}

/** `null`: all of them went as the reference says. Several grounds work side by side. */
export async function firstFault(grounds: readonly Ground[], size: Size, seeds: readonly number[], tally: Tally): Promise<Found | null> {
	let next = 0;
	let found: Found | null = null;
	await Promise.all(
		grounds.map(async (ground) => {
			while (found === null && next < seeds.length) {
				const seed = seeds[next++] as number;
				const schedule = randomSchedule(dice(seed), size);
				const fault = await faultOf(ground, schedule, size, tally);
				if (fault !== null) found ??= { seed, ...(await shortened(ground, schedule, size, fault)) };
			}
		}),
	);
	return found;
}

export function newTally(): Tally {
	return { calls: 0, ownerships: 0, verdicts: new Map() };
}

/** What a failed test says. */
export function report({ seed, fault, shortest }: Found): string {
	const lines = shortest.map((moves, n) => `  ${n + 1}. ${moves.map(described).join('\n     at once: ')}`);
	return [`Seed ${seed} (run it alone with GATE_SEED=${seed}) parts from the reference at ${fault}`, 'Shortest schedule found:', ...lines].join('\n');
}

async function faultOf(ground: Ground, schedule: Schedule, { clients }: Size, tally: Tally): Promise<string | null> {
	try {
		await runSchedule(ground, schedule, clients, tally);
		return null;
	} catch (error) {
		if (error instanceof Parted) return error.message;
		throw error;
	}
}

/** Leaves out moments, then single moves, as long as it still fails. A race may need several tries to be lost again. */
async function shortened(ground: Ground, failing: Schedule, size: Size, fault: string): Promise<Pick<Found, 'fault' | 'shortest'>> {
	let [best, why] = [failing, fault];
	const crowded = failing.some((moves) => moves.length > 1);
	const stillFails = async (candidate: Schedule): Promise<boolean> => {
		for (let tries = crowded ? 5 : 1; tries > 0; tries--) {
			const again = await faultOf(ground, candidate, size, newTally());
			if (again === null) continue;
			[best, why] = [candidate, again];
			return true;
		}
		return false;
	};
	for (let length = Math.ceil(best.length / 2); length >= 1; length = length === 1 ? 0 : Math.ceil(length / 2)) {
		for (let from = best.length - length; from >= 0; from--) {
			if (from + length <= best.length) await stillFails([...best.slice(0, from), ...best.slice(from + length)]);
		}
	}
	for (let at = best.length - 1; at >= 0; at--) {
		for (let one = (best[at] as Schedule[number]).length - 1; one >= 0; one--) {
			const moves = best[at] as Schedule[number];
			if (moves.length > 1) await stillFails(best.map((other, n) => (n === at ? moves.filter((_, m) => m !== one) : other)));
		}
	}
	return { shortest: best, fault: why };
}
