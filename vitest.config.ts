import { defineConfig } from 'vitest/config';

/** `quick` suites need nothing but the build; the others start real servers and run one file after another. */
const quick = ['unit', 'boundary', 'house'];
const heavy = ['store', 'model', 'node', 'outside', 'package', 'e2e'];

export default defineConfig({
	test: {
		projects: [...quick, ...heavy].map((name) => ({
			test: {
				name,
				include: [`tests/${name}/**/*.test.ts`],
				// A real n8n or a failover takes its time; a hung test must still end.
				testTimeout: heavy.includes(name) ? 300_000 : 30_000,
				hookTimeout: heavy.includes(name) ? 600_000 : 60_000,
				fileParallelism: quick.includes(name),
			},
		})),
	},
});
