/** Parts that the two ESLint configurations share: the workspace's and, with n8n's rules on top, the package's. */
import { fileURLToPath } from 'node:url';

import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What holds for every TypeScript file of the repository. */
export const strict = defineConfig(tseslint.configs.strict, tseslint.configs.stylistic, {
	languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: root } },
	rules: {
		'@typescript-eslint/array-type': ['error', { default: 'array-simple' }],
		'@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
		'@typescript-eslint/no-floating-promises': 'error',
		'@typescript-eslint/no-misused-promises': 'error',
		// A listener that is there so that an event is not an error has nothing to do.
		'@typescript-eslint/no-empty-function': 'off',
		// A leading underscore says "left out on purpose", as in `const { binary: _, ...rest }`.
		'@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
	},
});

/** Lets rules look into a JSON file. */
export const json = defineConfig({ languageOptions: { parser: tseslint.parser } });
