import { n8nCommunityNodesPlugin } from '@n8n/eslint-plugin-community-nodes';
import { defineConfig, globalIgnores } from 'eslint/config';

import { json, strict } from '../scripts/eslint-rules.mjs';

const n8n = n8nCommunityNodesPlugin.configs.recommendedWithoutN8nCloudSupport;

/** n8n's own rules for community nodes, and on top of them the rules of this repository. */
export default defineConfig([
	globalIgnores(['dist', 'src/**/generated/*.js']),
	{ files: ['**/*.ts'], extends: [strict] },
	{ files: ['nodes/**/*.ts', 'credentials/**/*.ts'], extends: [n8n] },
	{ files: ['package.json'], extends: [json, n8n] },
	{
		files: ['src/wasm/core.ts'],
		// Half a megabyte of module text that is not to be read before it is needed.
		rules: { '@typescript-eslint/no-require-imports': 'off' },
	},
	{
		files: ['nodes/**/*.node.ts'],
		rules: {
			// Users have a `postgres` credential already. Ours would be the same six fields and an SSH tunnel to fill in again.
			'@n8n/community-nodes/no-credential-reuse': 'off',
			// The same: `postgres` is n8n's, not a class of this package.
			'@n8n/community-nodes/valid-credential-references': 'off',
		},
	},
]);
