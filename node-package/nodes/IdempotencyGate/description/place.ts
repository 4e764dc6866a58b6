import type { INodeProperties } from 'n8n-workflow';

/** Where the tables are. Absent ones are the store's own defaults, see `connect/store.ts`. */
export const placeOptions: INodeProperties[] = [
	{
		displayName: 'Schema',
		name: 'schema',
		type: 'string',
		default: 'public',
		description: 'The Postgres schema of the tables. The same in every node that shares their events.',
	},
	{
		displayName: 'Table Prefix',
		name: 'tablePrefix',
		type: 'string',
		default: 'n8n_idempotency',
		description: 'What the names of the tables begin with. The same in every node that shares their events.',
	},
];
