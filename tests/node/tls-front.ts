/** TLS in front of a PostgreSQL that has none: answers PostgreSQL's request for TLS and passes the rest on. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';

/** Made for `localhost` and this test alone; nobody trusts it. */
const read = (name: string) => readFileSync(path.join(__dirname, 'tls', `test-only.${name}.pem`));

export async function tlsFront(target: { host: string; port: number }) {
	const secureContext = createSecureContext({ cert: read('cert'), key: read('key') });
	const server = createServer((client) => {
		client.on('error', () => undefined);
		client.once('data', () => {
			client.write('S');
			const secure = new TLSSocket(client, { isServer: true, secureContext });
			const upstream = connect(target.port, target.host);
			secure.on('error', () => upstream.destroy());
			upstream.on('error', () => secure.destroy());
			secure.pipe(upstream).pipe(secure);
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
