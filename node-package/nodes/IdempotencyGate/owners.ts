import type { IExecuteFunctions } from 'n8n-workflow';
import type { Core } from '../../src/index';
import type { Run } from './run';
import { runMemory } from './runMemory';

/**
 * The owner tokens of a run's items, chosen before the first try. Retry On Fail finds the same ones again, and so its
 * claim is re-entrant: an answer that was lost is learned by asking again.
 */
export function ownersOf(context: IExecuteFunctions, core: Core, run: Run, items: number): string[] {
	const memory = runMemory(context, run);
	const kept = memory['owners'] as string[] | undefined;
	if (kept?.length === items) return kept;

	const owners = Array.from({ length: items }, () => core.newToken());
	memory['owners'] = owners;
	return owners;
}
