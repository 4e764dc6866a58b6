/** Reading the answers of a gate's workflow: `x-answered-by` names the branch, the text is the item that left by it. */
import { expect } from 'vitest';
import type { burst } from '../../scripts/deliveries/burst.mjs';

export type Answer = Awaited<ReturnType<typeof burst>>[number];

/** How many answers came from each branch; `none` where the workflow broke off without one. */
export function branches(answers: readonly Answer[]): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { headers } of answers) {
		const branch = String(headers['x-answered-by'] ?? 'none');
		counts[branch] = (counts[branch] ?? 0) + 1;
	}
	return counts;
}

export function expectClaimed(answer: Answer): void {
	expect(branches([answer]), answer.text).toEqual({ claimed: 1 });
	expect(answer.json).toMatchObject({ claimed: true, idempotency: { outcome: 'claimed' } });
}

export function expectDuplicate(answer: Answer): void {
	expect(branches([answer]), answer.text).toEqual({ duplicate: 1 });
	expect(answer.json).toMatchObject({ claimed: false });
}

export function expectRejected(answer: Answer, reason: string): void {
	expect(branches([answer]), answer.text).toEqual({ rejected: 1 });
	expect(answer.json).toMatchObject({ claimed: false, idempotency: { outcome: 'rejected', reason } });
}
