/**
 * A PostgreSQL that a test can take away and bring back. A private server is really stopped; of one that is somebody
 * else's (GATE_TEST_POSTGRES_URL), the way to it is cut.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { startPostgres } from '../../scripts/setup/postgres.mjs';

export interface StoppablePostgres {
	/** Of a role that may create databases. */
	readonly url: string;
	halt(): Promise<void>;
	/** Does nothing where it is running. */
	resume(): Promise<void>;
	stop(): Promise<void>;
}

export async function startStoppablePostgres(): Promise<StoppablePostgres> {
	const server = await startPostgres();
	return server.external ? await behindGangway(server.url) : server;
}

async function behindGangway(url: string): Promise<StoppablePostgres> {
	const target = new URL(url);
	const open = new Set<Socket>();
	const server = createServer((near) => {
		const far = connect({ host: target.hostname, port: Number(target.port || 5432) });
		for (const [one, other] of [[near, far], [far, near]] as const) {
			open.add(one);
			one.on('error', () => other.destroy());
			one.on('close', () => {
				open.delete(one);
				other.destroy();
			});
			one.pipe(other);
		}
	});
	const listen = async (port: number): Promise<void> => {
		server.listen(port, '127.0.0.1');
		await once(server, 'listening');
	};
	await listen(0);
	const { port } = server.address() as AddressInfo;
	const gangway = new URL(url);
	gangway.hostname = '127.0.0.1';
	gangway.port = String(port);

	const halt = async (): Promise<void> => {
		if (!server.listening) return;
		const closed = once(server, 'close');
		server.close();
		for (const socket of open) socket.destroy();
		await closed;
	};
	const resume = async (): Promise<void> => {
		if (!server.listening) await listen(port);
	};
	return { url: gangway.href, halt, resume, stop: halt };
}
