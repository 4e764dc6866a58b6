import type { IExecuteFunctions } from 'n8n-workflow';
import { problems } from './problems';

/** Reads parameters by name and kind; what cannot be read is a problem that names the parameter. */
export class Parameters {
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly itemIndex: number,
	) {}

	text(name: string, label: string, otherwise = ''): string {
		const value = this.value(name, label, otherwise);
		return typeof value === 'string' ? value : String(value);
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
			return this.context.getNodeParameter(name, this.itemIndex, otherwise as object) as unknown;
		} catch (cause) {
			throw problems.parameterInvalid(label, cause as Error);
		}
	}

	/** The expression as typed, for a look at what it refers to. */
	source(name: string): string {
		const raw = this.context.getNodeParameter(name, this.itemIndex, '', { rawExpressions: true }) as unknown;
		return typeof raw === 'string' ? raw : '';
	}
}
