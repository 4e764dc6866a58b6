/** The outputs of Claim, by index. */
export const OUTPUTS = ['claimed', 'duplicate', 'rejected'] as const;

interface Parameters {
	operation?: string;
	options?: { output?: string };
}

/** n8n evaluates this function's text in the editor and in the engine, so it must not use anything around it. */
export const configuredOutputs = (parameters: Parameters) => {
	const named: Record<string, string[]> = {
		addMessage: ['Added', 'Already Added'],
		advance: ['Advanced', 'Already There'],
		claim: ['Claimed', 'Duplicate', 'Rejected'],
		getNextMessages: ['Messages', 'None Due'],
		recover: ['Recovered', 'Out of Attempts'],
	};
	const single = parameters.options?.output === 'single';
	const names = single ? undefined : named[parameters.operation ?? ''];
	return names ? names.map((displayName) => ({ type: 'main', displayName })) : [{ type: 'main' }];
};
