import type { IExecuteFunctions } from 'n8n-workflow';
import { type Store, StoreError } from '../../../src/index';
import { Parameters } from '../parameters';
import { problems } from '../problems';
import type { PostgresCredential } from './credential';
import { postgresStore } from './postgres';

/** The store that the node's parameters and credential name. Connections are shared by all executions of the process. */
export async function openStore(context: IExecuteFunctions): Promise<Store> {
	const parameters = new Parameters(context, 0);
	const schema = parameters.text('options.schema', 'Schema');
	const prefix = parameters.text('options.tablePrefix', 'Table Prefix');
	const store = postgresStore(await credentialOf(context), context.helpers, {
		...(schema !== '' && { schema }),
		...(prefix !== '' && { prefix }),
	});
	return preparing(store);
}

/** Prepares the store when it is first asked for something: what is rejected before that needs no database. */
function preparing(store: Store): Store {
	return {
		prepare: async () => await prepared(store),
		async claim(asks) {
			await prepared(store);
			return await store.claim(asks).catch((error: unknown) => {
				// Somebody may have dropped the tables.
				if (error instanceof StoreError && error.code === 'store_misconfigured') preparations.delete(store);
				throw error;
			});
		},
		settle: async (ends) => await store.settle(ends),
		find: async (key) => await store.find(key),
		async addMessages(messages) {
			await prepared(store);
			return await store.addMessages(messages);
		},
		async nextMessages(search) {
			await prepared(store);
			return await store.nextMessages(search);
		},
		settleMessages: async (ends) => await store.settleMessages(ends),
		close: async () => await store.close(),
	};
}

/** Once per process; executions that begin together share it. A failure is not kept. */
async function prepared(store: Store): Promise<void> {
	const known = preparations.get(store);
	if (known) return await known;
	const preparation = store.prepare();
	preparations.set(store, preparation);
	await preparation.catch((error: unknown) => {
		preparations.delete(store);
		throw error;
	});
}

const preparations = new WeakMap<Store, Promise<void>>();

async function credentialOf(context: IExecuteFunctions): Promise<PostgresCredential> {
	try {
		const credential = await context.getCredentials<Omit<PostgresCredential, 'name'>>('postgres', 0);
		return { ...credential, name: context.getNode().credentials?.['postgres']?.name ?? 'Postgres' };
	} catch (cause) {
		throw problems.credentialUnusable(cause as Error);
	}
}
