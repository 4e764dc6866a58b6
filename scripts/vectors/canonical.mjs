/** Canonical JSON: the reference data of RFC 8785, and where our own form differs from it. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const STRICT = 'rfc8785';
const EXACT = 'gate-jcs-exact-1';
/** Deeper JSON is refused with a code of its own. */
const MAX_DEPTH = 128;

export function canonicalCases(core, { folder, csv, content }) {
	const judge = judgeWith(core);
	if (folder) return folderCases(judge, folder);
	if (csv) return csv.trim().split(/\r?\n/).map((line) => numberCase(judge, line.split(',')));
	if (content.must_be_equal) return collisionCases(judge, content);
	if (content.pairs) return retryCases(judge, content);
	if (content[0]?.ieee754) return content.map((row) => numberCase(judge, [row.ieee754, row.json]));
	if (content[0]?.input_base64) return content.map((one) => edgeCase(judge, one));
	if (content[0]?.input) return content.map((one) => textCase(judge, one.name, Buffer.from(one.input), one));
	throw new Error('no vectors that this program knows');
}

/** Text of the canonical form, or `{ refused: code }`. */
function judgeWith(core) {
	return (mode, body, exclude = []) => {
		const answer = core.canonicalize(mode, exclude, Buffer.from(body));
		return answer.type === 'canonical' ? Buffer.from(answer.bytes) : { refused: answer.code };
	};
}

function folderCases(judge, folder) {
	const inFolder = (...parts) => path.join(folder, ...parts);
	return readdirSync(inFolder('input')).map((file) => {
		const hexFile = inFolder('outhex', file.replace(/json$/, 'txt'));
		const textFile = inFolder('output', file);
		const expected = {
			...(existsSync(textFile) ? { output: readFileSync(textFile, 'utf8') } : {}),
			...(existsSync(hexFile) ? { outhex: readFileSync(hexFile, 'utf8') } : {}),
		};
		return textCase(judge, file, readFileSync(inFolder('input', file)), expected);
	});
}

function textCase(judge, name, input, { output, outhex }) {
	return {
		name,
		run() {
			const got = judge(STRICT, input);
			if (output !== undefined && shown(got) !== output) return `${shown(got)}, expected ${output}`;
			const hex = outhex?.replace(/\s+/g, '').toLowerCase();
			return hex === undefined || got.toString('hex') === hex ? null : 'other bytes than expected';
		},
	};
}

/** A double by its bits: written short and written with all of its digits, it has one canonical text. */
function numberCase(judge, [bits, expected]) {
	return {
		name: `number ${bits}`,
		run() {
			const number = Buffer.from(bits.padStart(16, '0'), 'hex').readDoubleBE();
			if (!Number.isFinite(number)) return judge(STRICT, `[${number}]`).refused ? null : 'accepted';
			for (const literal of [JSON.stringify(number), number.toExponential(100), `${number < 0 ? '' : '-0e1,'}${number}`]) {
				const got = shown(judge(STRICT, `[${literal}]`));
				const wanted = literal.startsWith('-0e1,') ? `[0,${expected}]` : `[${expected}]`;
				if (got !== wanted) return `${literal} became ${got}, expected ${wanted}`;
			}
			return null;
		},
	};
}

function edgeCase(judge, { name, input_base64: base64, rfc8785: strict, gate_policy: policy }) {
	const input = Buffer.from(base64, 'base64');
	return {
		name,
		run() {
			const got = judge(STRICT, input);
			const wanted = policy ? byPolicy(judge, policy, input, strict) : strict;
			if (wanted.err) return got.refused && (wanted.err === true || wanted.err === got.refused) ? null : `${shown(got)}, expected a refusal`;
			return shown(got) === wanted.ok ? null : `${shown(got).slice(0, 200)}, expected ${wanted.ok.slice(0, 200)}`;
		},
	};
}

/** Where our rule is another than the RFC's, in words in the file. */
function byPolicy(judge, policy, input, strict) {
	if (policy.includes('too deep')) return depthOf(input) > MAX_DEPTH ? { err: 'body_too_deep' } : strict;
	if (policy.includes('BOM')) return { ok: shown(judge(STRICT, input.subarray(3))) };
	throw new Error(`a policy that this program does not know: ${policy}`);
}

/** Only for inputs without brackets in strings. */
function depthOf(input) {
	let depth = 0;
	let deepest = 0;
	for (const byte of input) {
		if (byte === 0x5b || byte === 0x7b) deepest = Math.max(deepest, ++depth);
		if (byte === 0x5d || byte === 0x7d) depth--;
	}
	return deepest;
}

function collisionCases(judge, { must_differ_or_not: loose, must_be_equal: equal }) {
	return [...loose, ...equal].map(({ a, b, strict_jcs_a, strict_jcs_b, strict_jcs_collides, gate_must_collide }) => ({
		name: `${a} and ${b}`,
		run() {
			const [strictA, strictB, exactA, exactB] = [[STRICT, a], [STRICT, b], [EXACT, a], [EXACT, b]].map(([mode, text]) =>
				shown(judge(mode, text)),
			);
			if (strict_jcs_a !== undefined && strictA !== strict_jcs_a) return `strict: ${strictA}, expected ${strict_jcs_a}`;
			if (strict_jcs_b !== undefined && strictB !== strict_jcs_b) return `strict: ${strictB}, expected ${strict_jcs_b}`;
			if ((strictA === strictB) !== strict_jcs_collides) return `strict: ${strictA} and ${strictB}`;
			// `null` leaves the choice to the rule.
			if (gate_must_collide !== null && (exactA === exactB) !== gate_must_collide) return `exact: ${exactA} and ${exactB}`;
			return null;
		},
	}));
}

function retryCases(judge, { pairs, distinct }) {
	const form = (value, exclude) => shown(judge(EXACT, JSON.stringify(value), exclude));
	const retries = pairs.map(({ provider, attempt1, attempt2, exclude, same_key }) => ({
		name: `${provider}, two attempts`,
		run: () => ((form(attempt1, exclude) === form(attempt2, exclude)) === same_key ? null : `same key is not ${same_key}`),
	}));
	const others = distinct.map(({ why, a, b, exclude, canonical_equal }) => ({
		name: why,
		run: () => ((form(a, exclude) === form(b, exclude)) === canonical_equal ? null : `equal is not ${canonical_equal}`),
	}));
	return [...retries, ...others];
}

function shown(got) {
	return Buffer.isBuffer(got) ? got.toString('utf8') : `refused as ${got.refused}`;
}
