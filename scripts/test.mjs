/**
 * `npm test`: sets the machine up, builds, and runs every suite. The very last line is `N passed, N failed`.
 *
 *     npm test                        everything
 *     npm test -- --quick             what needs no server: seconds once it is built
 *     npm test -- --suite store       one suite; may be given several times
 */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { logFile, root } from './setup/cache.mjs';
import { withNode } from './setup/node24.mjs';
import { SetupError } from './setup/progress.mjs';
import { buildPackage, setUpN8n, setUpRepository } from './setup/tools.mjs';

/** In order: what tells most in the shortest time first. All but `cargo` are projects of vitest.config.ts. */
const quick = ['cargo', 'house', 'unit', 'boundary'];
const suites = [...quick, 'store', 'model', 'node', 'outside', 'package', 'e2e'];
/** These load n8n's code, and it wants a newer Node.js than we do. */
const onN8n = ['node', 'package', 'e2e'];

try {
	const wanted = readArguments();
	await setUpRepository();
	const needsN8n = wanted.some((suite) => onN8n.includes(suite));
	const n8n = needsN8n ? await setUpN8n() : null;
	await buildPackage();
	const results = [];
	for (const suite of wanted) {
		console.log(`\n=== ${suite} ===`);
		results.push({ suite, ...(suite === 'cargo' ? await cargoTest() : await vitest(suite, n8n)) });
	}
	report(results);
} catch (error) {
	console.error(`\n${error instanceof SetupError ? error.message : error.stack}`);
	console.log('0 passed, 1 failed');
	process.exitCode = 1;
}

function readArguments() {
	let values;
	try {
		({ values } = parseArgs({ options: { quick: { type: 'boolean' }, suite: { type: 'string', multiple: true } } }));
	} catch (error) {
		throw new SetupError(`${error.message}\nUsage: npm test [-- --quick | --suite NAME ...]`);
	}
	const unknown = values.suite?.find((name) => !suites.includes(name));
	if (unknown) throw new SetupError(`There is no suite ${unknown}. The suites are ${suites.join(', ')}.`);
	if (values.suite) return suites.filter((name) => values.suite.includes(name));
	return values.quick ? quick : suites;
}

/** Counts come from the lines `test result: ok. 12 passed; 0 failed; …`, one for each test program. */
async function cargoTest() {
	let output = '';
	const status = await run('cargo', ['test', '--workspace', '--locked'], { stdio: ['ignore', 'pipe', 'inherit'] }, (text) => (output += text));
	const sums = { passed: 0, failed: 0 };
	for (const [, passed, failed] of output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed;/gm)) {
		sums.passed += Number(passed);
		sums.failed += Number(failed);
	}
	return judged(sums, status);
}

async function vitest(suite, n8n) {
	const report = logFile(`vitest-${suite}`).replace(/\.log$/, '.json');
	rmSync(report, { force: true });
	const args = [path.join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', suite, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
	const status = await run(n8n?.node ?? process.execPath, args, { env: environment(n8n), stdio: ['ignore', 'inherit', 'inherit'] });
	const { numPassedTests: passed, numFailedTests: failed } = read(report) ?? { numPassedTests: 0, numFailedTests: 0 };
	return judged({ passed, failed }, status);
}

/** The suites find the n8n that was set up here. */
function environment(n8n) {
	return n8n ? { ...withNode(n8n.node), N8N_BIN: n8n.bin } : process.env;
}

/** A suite that ended badly without naming a failed test (it could not be loaded, it crashed) counts as one failure. */
function judged({ passed, failed }, status) {
	return { passed, failed: status !== 0 && failed === 0 ? 1 : failed };
}

function run(command, args, options, onText = () => {}) {
	return new Promise((resolve, reject) => {
		const child = spawn(command, args, { cwd: root, ...options });
		child.stdout?.on('data', (chunk) => {
			process.stdout.write(chunk);
			onText(chunk);
		});
		child.once('error', reject);
		child.once('close', (status) => resolve(status ?? 1));
	});
}

function read(file) {
	try {
		return JSON.parse(readFileSync(file, 'utf8'));
	} catch {
		return null;
	}
}

function report(results) {
	console.log('\n=== summary ===');
	for (const { suite, passed, failed } of results) console.log(`${suite.padEnd(10)} ${String(passed).padStart(5)} passed ${String(failed).padStart(5)} failed`);
	const sum = (key) => results.reduce((total, result) => total + result[key], 0);
	console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`);
	if (sum('failed') > 0) process.exitCode = 1;
}
