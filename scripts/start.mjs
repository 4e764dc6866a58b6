/**
 * `npm start`: a real n8n with the gate in it, a real PostgreSQL, one signed event delivered 50 times at the same moment.
 * Then the editor is yours until Ctrl-C.
 *
 *     npm start -- --once    ends after the table; the exit status is 0 only if exactly one delivery was claimed
 */
import { parseArgs } from 'node:util';
import { openDemoStage } from './n8n/demo-stage.mjs';
import { demonstrate } from './n8n/demonstration.mjs';
import { SetupError } from './setup/progress.mjs';

const undo = [];
/** What Ctrl-C means: an interruption until the demonstration is over, then the normal end. */
let statusOfInterrupt = 130;
let ending = false;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
	process.on(signal, () => {
		if (ending) process.exit(130);
		void end(signal === 'SIGTERM' ? 143 : statusOfInterrupt);
	});
}

try {
	const once = readArguments();
	console.error('Setting up. The first time takes about ten minutes; what is downloaded stays in .cache.');
	const stage = await openDemoStage((action) => undo.push(action));
	const { result, next, ok } = await demonstrate(stage);
	console.log(result);
	if (once) await end(ok ? 0 : 1);
	statusOfInterrupt = 0;
	console.log(next);
	console.log('\nCtrl-C ends n8n and PostgreSQL and deletes what was made in them.');
	await stage.n8n.ended;
	if (!ending) throw new SetupError(`n8n ended by itself. Its log: ${stage.n8n.logFile}`);
} catch (error) {
	if (!ending) {
		console.error(`\n${error instanceof SetupError ? error.message : error.stack}`);
		await end(1);
	}
}

function readArguments() {
	try {
		return parseArgs({ options: { once: { type: 'boolean', default: false } } }).values.once;
	} catch (error) {
		throw new SetupError(`${error.message}\nUsage: npm start [-- --once]`);
	}
}

async function end(status) {
	ending = true;
	if (undo.length > 0) console.error('\nStopping n8n and PostgreSQL ...');
	for (const action of undo.splice(0).reverse()) await action().catch((error) => console.error(error.message));
	process.exit(status);
}
