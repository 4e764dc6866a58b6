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
	const after = <Asked extends unknown[], Answer>(ask: (...asked: Asked) => Promise<Answer>) => {
		return async (...asked: Asked): Promise<Answer> => {
			await prepared(store);
			return await ask.apply(store, asked).catch((error: unknown) => {
				// Somebody may have dropped the tables.
				if (error instanceof StoreError && error.code === 'store_misconfigured') preparations.delete(store);
				throw error;
			});
		};
	};
	return {
		prepare: async () => await prepared(store),
		claim: after(store.claim),
		settle: after(store.settle),
		extend: after(store.extend),
		advance: after(store.advance),
		reopen: after(store.reopen),
		resolve: after(store.resolve),
		recover: after(store.recover),
		find: after(store.find),
		findByExecution: after(store.findByExecution),
		findPayload: after(store.findPayload),
		list: after(store.list),
		addMessages: after(store.addMessages),
		nextMessages: after(store.nextMessages),
		settleMessages: after(store.settleMessages),
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
