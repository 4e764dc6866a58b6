import type { IExecuteFunctions, IPollFunctions } from 'n8n-workflow';
import { type Store, StoreError } from '../../../src/index';
import { Parameters } from '../parameters';
import { problems } from '../problems';
import type { PostgresCredential } from './credential';
import { postgresStore } from './postgres';
import type { SshClients } from './sshTunnel';

/** The store that the node's parameters and credential name. Connections are shared by all executions of the process. */
export async function openStore(context: IExecuteFunctions): Promise<Store> {
	return await openStoreFor(context, new Parameters(context, 0));
}

/** For triggers too, whose parameters are read in another way. */
export async function openStoreFor(context: IExecuteFunctions | IPollFunctions, parameters: Parameters): Promise<Store> {
	const schema = parameters.text('options.schema', 'Schema');
	const prefix = parameters.text('options.tablePrefix', 'Table Prefix');
	const credential = await credentialOf(context);
	const store = postgresStore(credential, sshClients(context, credential), {
		...(schema !== '' && { schema }),
		...(prefix !== '' && { prefix }),
	});
	return preparing(store);
}

/** n8n opens tunnels for nodes, and none for triggers that poll. */
function sshClients({ helpers }: IExecuteFunctions | IPollFunctions, { name, sshTunnel }: PostgresCredential): SshClients {
	if ('getSSHClient' in helpers) return helpers;
	const noTunnel = new StoreError(
		'store_misconfigured',
		`A trigger cannot use the SSH tunnel of the credential '${name}'`,
		"n8n opens tunnels for other nodes only. Use a Schedule Trigger with 'Recover Events' or 'Get Next Messages' of the Idempotency Gate behind it, or a credential without a tunnel.",
	);
	if (sshTunnel === true) throw noTunnel;
	return { getSSHClient: () => Promise.reject(noTunnel) };
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
		deadLetters: after(store.deadLetters),
		list: after(store.list),
		addMessages: after(store.addMessages),
		nextMessages: after(store.nextMessages),
		showMessages: after(store.showMessages),
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

async function credentialOf(context: Pick<IExecuteFunctions, 'getCredentials' | 'getNode'>): Promise<PostgresCredential> {
	try {
		const credential = await context.getCredentials<Omit<PostgresCredential, 'name'>>('postgres', 0);
		return { ...credential, name: context.getNode().credentials?.['postgres']?.name ?? 'Postgres' };
	} catch (cause) {
		throw problems.credentialUnusable(cause as Error);
	}
}
