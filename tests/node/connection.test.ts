/** How the node reaches PostgreSQL with n8n's own credential. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { login, sshServer, type SshServer } from './ssh-server';
import { delivery, freshWorkflow, openStage, routes, runGate, type Stage } from './stage';
import { tlsFront } from './tls-front';

let stage: Stage;
beforeAll(async () => {
	stage = await openStage();
});
afterAll(() => stage?.close());

const withPostgres = (changes: object) => ({ credentials: { Postgres: { ...stage.postgres, ...changes } as never } });

describe('the pool', () => {
	it('stays small, whatever the credential says, and is shared by executions', async () => {
		const setup = { ...withPostgres({ maxConnections: 100 }), workflowId: freshWorkflow() };
		await Promise.all(Array.from({ length: 40 }, () => runGate(stage, [delivery()], setup)));
		const { rows } = await stage.database.query<{ n: number }>(
			`SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'n8n idempotency gate' AND datname = current_database()`,
		);
		expect(rows[0]!.n).toBeGreaterThan(0);
		expect(rows[0]!.n).toBeLessThanOrEqual(4);
	});

	it('survives connections that the server closes', async () => {
		const setup = { workflowId: freshWorkflow() };
		await runGate(stage, [delivery()], setup);
		await stage.database.query(
			`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'n8n idempotency gate' AND datname = current_database()`,
		);
		expect(routes(await runGate(stage, [delivery()], setup))).toEqual([['claimed'], [], []]);
	});

	it('a wrong database is named as such', async () => {
		const finished = await runGate(stage, [delivery()], withPostgres({ database: 'no_such_database' }));
		expect(finished.error?.message).toContain('there is no such database');
	});

	it('tables can have a schema and a prefix of their own', async () => {
		const options = { schema: 'gate_of_orders', tablePrefix: 'orders' };
		const finished = await runGate(stage, [delivery()], { options });
		expect(routes(finished)).toEqual([['claimed'], [], []]);
		const { rows } = await stage.database.query<{ n: number }>('SELECT count(*)::int AS n FROM gate_of_orders.orders_claims');
		expect(rows[0]!.n).toBe(1);
	});

	it('tables that somebody drops are made again', async () => {
		const options = { tablePrefix: 'short_lived' };
		await runGate(stage, [delivery()], { options });
		await stage.database.query('DROP TABLE short_lived_guards, short_lived_claims, short_lived_migrations CASCADE');
		await stage.database.query('DROP SEQUENCE IF EXISTS short_lived_fence CASCADE');
		const failed = await runGate(stage, [delivery()], { options });
		expect(failed.error?.message).toContain('missing');
		expect(routes(await runGate(stage, [delivery()], { options }))).toEqual([['claimed'], [], []]);
	});
});

describe('TLS, as n8n\'s own Postgres node has it', () => {
	let front: Awaited<ReturnType<typeof tlsFront>>;
	beforeAll(async () => {
		front = await tlsFront(stage.postgres);
	});
	afterAll(() => front?.close());

	it('"Ignore SSL Issues" takes any certificate', async () => {
		const finished = await runGate(stage, [delivery()], withPostgres({ port: front.port, allowUnauthorizedCerts: true }));
		expect(routes(finished)).toEqual([['claimed'], [], []]);
	});

	it.each(['allow', 'require'])('"%s" checks the certificate', async (ssl) => {
		const finished = await runGate(stage, [delivery()], withPostgres({ port: front.port, ssl }));
		expect(finished.error?.message).toContain('the certificate of the server is not trusted');
		expect(finished.received('Claimed')).toBe(0);
	});

	it('"require" is not content with a server without TLS', async () => {
		const finished = await runGate(stage, [delivery()], withPostgres({ ssl: 'require' }));
		expect(finished.error?.message).toContain('the server does not speak TLS');
	});
});

describe('the SSH tunnel', () => {
	let ssh: SshServer;
	beforeAll(async () => {
		ssh = await sshServer();
	});
	afterAll(() => ssh?.close());

	const tunnel = (changes: object = {}) =>
		withPostgres({
			...{ sshTunnel: true, sshAuthenticateWith: 'password', sshHost: '127.0.0.1', sshPort: ssh.port },
			...login,
			...changes,
		});

	it('leads to the store', async () => {
		const setup = { ...tunnel(), workflowId: freshWorkflow() };
		const item = delivery();
		expect(routes(await runGate(stage, [item], setup))).toEqual([['claimed'], [], []]);
		expect(routes(await runGate(stage, [item], setup))).toEqual([[], ['completed'], []]);
		expect(ssh.forwarded).toBeGreaterThan(0);
	});

	it('is opened again after it was closed', async () => {
		const setup = { ...tunnel(), workflowId: freshWorkflow() };
		await runGate(stage, [delivery()], setup);
		const before = ssh.forwarded;
		ssh.hangUp();
		const finished = await runGate(stage, [delivery()], setup);
		// Or `reentrant`: the session ended while the claim was under way.
		expect(finished.received('Claimed')).toBe(1);
		expect(ssh.forwarded).toBeGreaterThan(before);
	});

	it('a login that is not accepted is named as such', async () => {
		const finished = await runGate(stage, [delivery()], tunnel({ sshPassword: 'wrong' }));
		expect(finished.error?.message).toContain('the SSH server does not accept this login');
	});
});
