/** The outputs of Claim, by index. */
export const OUTPUTS = ['claimed', 'duplicate', 'rejected'] as const;

interface Parameters {
	operation?: string;
	options?: { output?: string };
}

/** n8n evaluates this function's text in the editor and in the engine, so it must not use anything around it. */
export const configuredOutputs = (parameters: Parameters) => {
	if (parameters.operation !== 'claim' || parameters.options?.output === 'single') return [{ type: 'main' }];
	return [
		{ type: 'main', displayName: 'Claimed' },
		{ type: 'main', displayName: 'Duplicate' },
		{ type: 'main', displayName: 'Rejected' },
	];
};
