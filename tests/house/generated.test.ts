import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { OUTCOMES, REJECTION_CODES, STATES, VERDICTS } from '../../node-package/src/wasm/generated/vocabulary';
import { loadCore } from '../../node-package/src/wasm/core';
import { read, root } from './tree';

const policy = { inProgress: 'accept', needsAttention: 'accept', inProgressOutput: 'duplicate' } as const;

describe('what is generated is fresh', () => {

	it.each([
		['the embedded SQL', process.execPath, ['node-package/scripts/embed-sql.mjs', '--check']],
		['the vocabulary and the boundary', 'cargo', ['xtask', 'vocabulary', '--check']],
	])('%s', (_, command, args) => {
		const { status, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
		expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
	}, 300_000);

	it('the boundary is the same on both sides', () => {
		expect(read('node-package/src/wasm/generated/boundary.d.ts')).toContain(read('crates/gate-wasm/boundary.d.ts').trim());
	});

	it('the built module speaks the words of the vocabulary', () => {
		const core = loadCore();
		for (const code of REJECTION_CODES) {
			expect(core.decide({ type: 'refused', code, policy }).outcome).toBe('rejected');
		}
		const seen = VERDICTS.flatMap((verdict) =>
			STATES.map((state) => {
				const reply = { verdict, state, retryAfterMs: null, payloadChanged: false };
				return core.decide({ type: 'store', ...reply, policy }).outcome;
			}),
		);
		expect(OUTCOMES).toEqual(expect.arrayContaining([...new Set(seen)]));
		expect(new Set(seen).size).toBe(OUTCOMES.length - 1); // all but `rejected`, which no store answers
	});
});
