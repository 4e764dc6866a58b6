/** An SSH server on 127.0.0.1 that opens connections for whoever logs in, as a bastion host does. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { connect, type AddressInfo, type Server as TcpServer } from 'node:net';
import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';

export interface SshServer {
	readonly port: number;
	/** How many connections were opened through it. */
	readonly forwarded: number;
	/** Ends all sessions, as an idle time-out does. */
	hangUp(): void;
	close(): Promise<void>;
}

export const login = { sshUser: 'tunnel', sshPassword: 'for tests only' };

/** ssh2 comes with n8n-workflow; its types do not. */
const { Server } = createRequire(createRequire(__filename).resolve('n8n-workflow'))('ssh2') as {
	Server: new (options: { hostKeys: string[] }, onClient: (client: Client) => void) => TcpServer;
};

interface Client {
	on(event: string, listener: (...args: never[]) => void): this;
	end(): void;
}

interface Authentication {
	readonly method: string;
	readonly username: string;
	readonly password?: string;
	accept(): void;
	reject(methods?: string[]): void;
}

export async function sshServer(): Promise<SshServer> {
	const { privateKey } = generateKeyPairSync('rsa', {
		modulusLength: 2048,
		privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
		publicKeyEncoding: { type: 'pkcs1', format: 'pem' },
	});
	let forwarded = 0;
	const clients = new Set<Client>();
	const server = new Server({ hostKeys: [privateKey] }, (client) => {
		clients.add(client);
		client.on('error', () => undefined);
		client.on('close', () => clients.delete(client));
		client.on('authentication', (request: Authentication) => {
			const known = request.username === login.sshUser && request.password === login.sshPassword;
			if (request.method === 'password' && known) request.accept();
			else request.reject(['password']);
		});
		client.on('tcpip', (accept: () => Duplex, _reject: () => void, to: { destIP: string; destPort: number }) => {
			forwarded += 1;
			const upstream = connect(to.destPort, to.destIP);
			const channel = accept();
			upstream.on('error', () => channel.destroy());
			channel.on('error', () => upstream.destroy());
			channel.pipe(upstream).pipe(channel);
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	const hangUp = (): void => {
		for (const client of clients) client.end();
	};
	return {
		port: (server.address() as AddressInfo).port,
		get forwarded() {
			return forwarded;
		},
		hangUp,
		close: async () => {
			hangUp();
			server.close();
			await once(server, 'close');
		},
	};
}
