/**
 * Reads the form in which n8n keeps execution data: an array of values, in which every string inside an object or array
 * is the index of another value. Small enough to have here instead of one more dependency.
 */
export function parseFlatted(text) {
	const values = JSON.parse(text);
	const done = new Map();
	const resolve = (index) => {
		if (done.has(index)) return done.get(index);
		const value = values[index];
		if (value === null || typeof value !== 'object') return value;
		const built = Array.isArray(value) ? [] : {};
		done.set(index, built);
		for (const [key, part] of Object.entries(value)) {
			built[key] = typeof part === 'string' ? resolve(Number(part)) : part;
		}
		return built;
	};
	return resolve(0);
}
