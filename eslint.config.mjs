import { defineConfig, globalIgnores } from 'eslint/config';

import { strict } from './scripts/eslint-rules.mjs';

/** The package has a configuration of its own, with n8n's rules. */
export default defineConfig([
	globalIgnores(['node-package', 'target', '.cache', 'fuzz', 'crates']),
	{
		files: ['tests/**/*.ts'],
		extends: [strict],
		rules: {
			// A test asserts what it has just looked up.
			'@typescript-eslint/no-non-null-assertion': 'off',
			// It loads what was built the way its users load it.
			'@typescript-eslint/no-require-imports': 'off',
			// A server's request handler may be async in a test.
			'@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
		},
	},
]);
