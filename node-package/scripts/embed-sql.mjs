/**
 * Embeds the .sql files of the stores as text: src/store/<store>/{migrations,statements}/*.sql -> generated/sql.ts.
 *
 *     node scripts/embed-sql.mjs           writes what has changed
 *     node scripts/embed-sql.mjs --check   writes nothing; fails where a generated file is not fresh
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const stores = fileURLToPath(new URL('../src/store/', import.meta.url));

/** @returns {Array<{ file: string, text: string, fresh: boolean }>} one generated file per store */
export function embedded() {
	const folders = readdirSync(stores, { withFileTypes: true }).filter((entry) => entry.isDirectory());
	return folders
		.map(({ name }) => path.join(stores, name))
		.filter((store) => existsSync(path.join(store, 'statements')))
		.map((store) => {
			const file = path.join(store, 'generated', 'sql.ts');
			const text = moduleOf(store);
			return { file, text, fresh: existsSync(file) && readFileSync(file, 'utf8') === text };
		});
}

function moduleOf(store) {
	const statements = sqlFiles(path.join(store, 'statements')).map(({ name, sql }) => `\t${name}: ${quoted(sql)},\n`);
	const migrations = sqlFiles(path.join(store, 'migrations')).map(({ name, sql }) => {
		const [, number] = /^(\d{4})_/.exec(name) ?? [];
		if (number === undefined) throw new Error(`A migration begins with four digits, but one is named ${name}.sql`);
		return `\t{ number: ${Number(number)}, name: '${name}', sql: ${quoted(sql)} },\n`;
	});
	return [
		'// Written by `node scripts/embed-sql.mjs` from the .sql files beside this folder. Do not edit.\n\n',
		`export const statements = {\n${statements.join('')}} as const;\n\n`,
		`export const migrations = [\n${migrations.join('')}] as const;\n`,
	].join('');
}

/** By name, without the comment on top: it is for readers, and would be sent with every query. */
function sqlFiles(folder) {
	if (!existsSync(folder)) return [];
	const names = readdirSync(folder).filter((name) => name.endsWith('.sql')).sort();
	return names.map((name) => {
		const text = readFileSync(path.join(folder, name), 'utf8');
		return { name: path.basename(name, '.sql'), sql: text.replace(/^(?:--.*\n)+/, '').replace(/^\s*--.*\n/gm, '').trim() };
	});
}

function quoted(sql) {
	return `\`${sql.replace(/[\\`]|\$\{/g, '\\$&')}\``;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const stale = embedded().filter(({ fresh }) => !fresh);
	if (process.argv.includes('--check')) {
		for (const { file } of stale) console.error(`${path.relative(process.cwd(), file)} is not fresh: run node scripts/embed-sql.mjs`);
		process.exitCode = stale.length === 0 ? 0 : 1;
	} else {
		for (const { file, text } of stale) {
			mkdirSync(path.dirname(file), { recursive: true });
			writeFileSync(file, text);
		}
	}
}
