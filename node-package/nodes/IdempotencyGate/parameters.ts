import { problems } from './problems';

/** The context of a run of a node, as far as it has the parameters. */
export interface ParameterSource {
	getNodeParameter(name: string, itemIndex: number, otherwise?: unknown, options?: { rawExpressions?: boolean }): unknown;
}

/** Reads parameters by name and kind; what cannot be read is a problem that names the parameter. */
export class Parameters {
	constructor(
		private readonly context: ParameterSource,
		private readonly itemIndex: number,
	) {}

	/** An expression that found nothing is no text, and neither is `undefined`: different events would share it. */
	text(name: string, label: string, otherwise = ''): string {
		const value = this.value(name, label, otherwise);
		const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
		if (typeof text === 'string' && !LONE_SURROGATE.test(text)) return text;
		throw problems.parameterNotText(label);
	}

	/** A text for people. It must never be the reason to stop an event, so what is none counts as not set. */
	note(name: string, label: string): string {
		const value = this.value(name, label, '');
		return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
	}

	flag(name: string, label: string, otherwise: boolean): boolean {
		const value = this.value(name, label, otherwise);
		return typeof value === 'boolean' ? value : otherwise;
	}

	/** A number between the two, both allowed; `otherwise` where the user set none. */
	number<T extends number | undefined>(name: string, label: string, [least, most]: [number, number], otherwise: T): number | T {
		const value = this.value(name, label, null);
		if (value === null || value === '') return otherwise;
		const number = Number(value);
		if (!(number >= least && number <= most)) throw problems.parameterOutOfRange(label, `between ${least} and ${most}`);
		return number;
	}

	/** One of the words; anything else counts as not set, as for a workflow from another version of this node. */
	choice<T extends string>(name: string, label: string, words: readonly T[], otherwise: T): T {
		const value = this.value(name, label, otherwise);
		return words.find((word) => word === value) ?? otherwise;
	}

	/** Whatever the user's expression gives, with its type. */
	value(name: string, label: string, otherwise: unknown): unknown {
		try {
			return this.context.getNodeParameter(name, this.itemIndex, otherwise);
		} catch (cause) {
			throw problems.parameterInvalid(label, cause as Error);
		}
	}

	/** The expression as typed, for a look at what it refers to. */
	source(name: string): string {
		const raw = this.context.getNodeParameter(name, this.itemIndex, '', { rawExpressions: true });
		return typeof raw === 'string' ? raw : '';
	}
}

/** Half a character. With the `u` flag a pair of surrogates is one character, so what is left is alone. */
const LONE_SURROGATE = /\p{Surrogate}/u;
