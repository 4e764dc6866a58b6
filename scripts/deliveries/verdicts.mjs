/** What the answers of a gate's workflow say, where its Respond nodes answer as the templates' do. */

/** @typedef {'claimed' | 'duplicate' | 'rejected' | 'failed'} Verdict */

/** @param {import('./burst.mjs').Answer} answer @returns {Verdict} */
export function verdictOf({ status, json }) {
	if (status >= 500 || json === undefined) return 'failed';
	// 409: a duplicate that is asked to come back, since the event is being handled at this moment.
	if (json.duplicate === true || status === 409) return 'duplicate';
	return status >= 400 ? 'rejected' : 'claimed';
}

/** How many answers of each kind. @param {import('./burst.mjs').Answer[]} answers */
export function tally(answers) {
	const counts = { claimed: 0, duplicate: 0, rejected: 0, failed: 0 };
	for (const answer of answers) counts[verdictOf(answer)]++;
	return counts;
}

/**
 * A table for people, one row for each group of deliveries.
 * @param {{ what: string, answers: import('./burst.mjs').Answer[], ms: number }[]} groups
 */
export function table(groups) {
	const head = ['', 'deliveries', 'claimed', 'duplicates', 'rejected', 'failed', 'time'];
	const rows = groups.map(({ what, answers, ms }) => {
		const { claimed, duplicate, rejected, failed } = tally(answers);
		return [what, answers.length, claimed, duplicate, rejected, failed, `${(ms / 1000).toFixed(2)} s`].map(String);
	});
	const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column].length)));
	const line = (cells) => cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('   ');
	return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** Runs `work` and gives its result with the time it took. */
export async function timed(what, work) {
	const started = performance.now();
	const answers = await work();
	return { what, answers, ms: performance.now() - started };
}
