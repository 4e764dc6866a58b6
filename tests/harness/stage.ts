/** A real n8n and a real PostgreSQL for the gate, for one suite. */
import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { startN8n } from '../../scripts/n8n/server.mjs';
import { createDatabase, postgresCredential } from '../../scripts/setup/databases.mjs';
import { findN8n } from '../../scripts/setup/n8n.mjs';
import { findNode24 } from '../../scripts/setup/node24.mjs';
import { startPostgres } from '../../scripts/setup/postgres.mjs';
import { startStoppablePostgres, type StoppablePostgres } from './stoppable-postgres';
import type { CredentialRef, Workflow } from './workflows';

export type N8n = Awaited<ReturnType<typeof startN8n>>;

export interface Stage {
	readonly n8n: N8n;
	/** The gate's server. n8n keeps its own data on another one, so this one can be stopped under a running n8n. */
	readonly server: StoppablePostgres;
	/** Of the gate's database. */
	readonly databaseUrl: string;
	/** n8n's credential for it. */
	readonly postgres: CredentialRef;
	/** Into the gate's database, for looking at what the gate wrote. */
	readonly database: Pool;
	/** Creates the workflow, publishes it and waits until its webhook takes requests. */
	publish(workflow: Workflow): Promise<Published>;
	close(): Promise<void>;
}

export interface Published {
	readonly id: string;
	readonly url: string;
}

export async function openStage({ tarball }: { tarball?: string } = {}): Promise<Stage> {
	const undo: Array<() => Promise<unknown>> = [];
	const close = async (): Promise<void> => {
		const failures: unknown[] = [];
		for (const step of undo.splice(0).reverse()) await step().catch((error: unknown) => failures.push(error));
		if (failures.length > 0) throw new AggregateError(failures, 'the stage was not cleared');
	};
	try {
		const node = await findNode24();
		const { bin } = await findN8n(node);
		const n8nHome = await startPostgres();
		undo.push(() => n8nHome.stop());
		const server = await startStoppablePostgres();
		undo.push(() => server.stop());
		const own = await createDatabase(n8nHome.url, 'n8n');
		undo.push(() => own.drop());
		const gate = await createDatabase(server.url, 'e2e');
		undo.push(() => gate.drop());

		const n8n = await startN8n({ node, bin, databaseUrl: own.url, log: 'n8n-e2e', ...(tarball && { tarball }) });
		undo.push(() => n8n.stop());
		const database = new Pool({ connectionString: gate.url, max: 2 });
		// Connections that break when a test stops the server are expected.
		database.on('error', () => undefined);
		undo.push(() => database.end());
		const postgres = await n8n.api.createCredential('postgres', 'Postgres for the gate', postgresCredential(gate.url));
		return { n8n, server, databaseUrl: gate.url, postgres, database, publish: (workflow) => publish(n8n, workflow), close };
	} catch (error) {
		await close().catch(() => undefined);
		throw error;
	}
}

async function publish(n8n: N8n, workflow: Workflow): Promise<Published> {
	const id = await n8n.api.createWorkflow(workflow);
	await n8n.api.activate(id);
	const hook = workflow.nodes.find(({ type }) => type === 'n8n-nodes-base.webhook');
	return { id, url: `${n8n.url}/webhook/${String(hook?.parameters['path'])}` };
}

/** A webhook path that no other test uses. */
export const freshPath = (topic: string): string => `${topic}-${randomUUID().slice(0, 8)}`;
