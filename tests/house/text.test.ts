import { describe, expect, it } from 'vitest';
import { read, sources } from './tree';

const code = sources(/\.(ts|mjs|js|rs|sql|sh|json|toml|md|yml|css|svg)$|^\.ci\/run$/).filter(
	(file) => !file.startsWith('tests/vectors/') && !file.endsWith('.lock') && !file.endsWith('package-lock.json'),
);

/** Words that begin a statement, in the capitals of this house, followed by what such a statement goes on with. */
const sql = /\b(SELECT\s+[\w*$"(]|INSERT\s+INTO|UPDATE\s+\S+\s+SET|DELETE\s+FROM|(CREATE|ALTER|DROP)\s+(TABLE|INDEX|SEQUENCE|SCHEMA))\b/;

describe('where text lives', () => {
	it('SQL is in .sql files, not in TypeScript', () => {
		const shipped = sources(/^node-package\/(src|nodes|credentials)\/.*\.ts$/).filter((f) => !f.includes('/generated/'));
		const offenders = shipped.filter((file) => sql.test(withoutComments(read(file))));
		expect(offenders).toEqual([]);
	});

	it('the SQL rule sees a statement and leaves prose alone', () => {
		expect(sql.test("const q = 'SELECT 1'")).toBe(true);
		expect(sql.test('`INSERT INTO ${table}`')).toBe(true);
		expect(sql.test("'Select the provider that sends the events'")).toBe(false);
	});

	it('every .sql file says on top what it promises', () => {
		const mute = sources(/^node-package\/.*\.sql$/).filter((file) => !read(file).startsWith('-- '));
		expect(mute).toEqual([]);
	});

	it('no file is a bucket', () => {
		expect(sources(/(^|\/)(utils?|helpers?|common|misc|types)(\.|\/)/)).toEqual([]);
	});

	it('nothing names a machine or a registry host', () => {
		const traces = new RegExp(['/wo' + 'rk/', '/ro' + 'ot/', '/far' + 'm/', 'registry\\.npmjs', 'static\\.crates'].join('|'));
		expect(code.filter((file) => traces.test(read(file)))).toEqual([]);
		const hosts = /"resolved": "https?:/;
		expect(sources(/package-lock\.json$/).filter((file) => hosts.test(read(file)))).toEqual([]);
	});

	it('no emoji', () => {
		// Tests may hold any character as data.
		const shown = code.filter((file) => !/(^|\/)tests?(\/|\.rs$)/.test(file));
		expect(shown.filter((file) => /\p{Extended_Pictographic}/u.test(read(file).replace(/[©®™↔-↪▶◀]/gu, '')))).toEqual([]);
	});

	it('no test is skipped, left to do or run alone', () => {
		const pattern = new RegExp(['\\b(describe|it|test)\\.(skip|todo|on', 'ly)\\b|#\\[igno', 're'].join(''));
		expect(sources(/^(tests|crates|node-package)\/.*\.(ts|rs)$/).filter((file) => pattern.test(read(file)))).toEqual([]);
	});
});

function withoutComments(text: string): string {
	return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
