import { changing } from './laws/changing';
import { claiming } from './laws/claiming';
import { deadLetters } from './laws/deadLetters';
import { gathering } from './laws/gathering';
import { guards } from './laws/guards';
import { handingOn } from './laws/handingOn';
import { keys } from './laws/keys';
import { model } from './laws/model';
import { outbox } from './laws/outbox';
import { outboxOrder } from './laws/outboxOrder';
import { ownership } from './laws/ownership';
import { payloads } from './laws/payloads';
import { preparing } from './laws/preparing';
import { recovering } from './laws/recovering';
import { reopening } from './laws/reopening';
import { subjects } from './laws/subjects';
import { tests } from './laws/tests';
import { waiting } from './laws/waiting';
import type { Capability, Law, World } from './world';

export type { Capability, Law, OpenOptions, OpenTransaction, World } from './world';

/** Every store runs all of them, against a real server. A new store brings a `World`; nothing here changes for it. */
export const storeLaws: readonly Law[] = [
	...preparing,
	...claiming,
	...ownership,
	...changing,
	...recovering,
	...reopening,
	...payloads,
	...subjects,
	...handingOn,
	...keys,
	...guards,
	...gathering,
	...outbox,
	...outboxOrder,
	...deadLetters,
	...tests,
	...waiting,
	...model,
];

/** Why a law cannot be run in this world, or `null`. */
export function cannotRun(law: Law, world: World): string | null {
	const missing = (law.needs ?? []).filter((capability: Capability) => world.lacks[capability] !== undefined);
	return missing.length === 0 ? null : missing.map((capability) => `${capability}: ${world.lacks[capability]}`).join('; ');
}
