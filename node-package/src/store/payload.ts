/** A delivery as it came in, saved with its claim so that the recovery can hand it out again. */
export interface Payload {
	/** In the order received. Those that hold secrets were left out: see `savedHeaders`. */
	readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
	/** The bytes as received. */
	readonly body: Uint8Array;
}
