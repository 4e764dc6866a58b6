/** A TCP proxy in front of PostgreSQL that can lose answers: the statement is carried out, its sender never hears of it. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface LossyProxy {
	readonly port: number;
	/** From now on the answer to a statement whose text matches is lost, together with its connection; `times`: so often. */
	lose(statement: RegExp, times?: number): void;
	/** From now on nobody gets through. */
	cut(): void;
	heal(): void;
	/** How many answers were lost. */
	readonly lost: number;
	/** How many messages with a matching text went to the server. */
	seen(statement: RegExp): number;
	close(): Promise<void>;
}

export async function lossyProxy(target: { host: string; port: number }): Promise<LossyProxy> {
	let losing: RegExp | null = null;
	let left = 0;
	let isCut = false;
	let lost = 0;
	const sent: string[] = [];
	const sockets = new Set<Socket>();

	const server = createServer((client) => {
		if (isCut) {
			client.destroy();
			return;
		}
		const upstream = connect(target.port, target.host);
		for (const socket of [client, upstream]) {
			sockets.add(socket);
			socket.on('error', () => undefined);
			socket.on('close', () => {
				client.destroy();
				upstream.destroy();
				sockets.delete(socket);
			});
		}
		let doomed = false;
		client.on('data', (chunk) => {
			const text = chunk.toString('latin1');
			sent.push(text);
			doomed ||= losing?.test(text) === true;
			upstream.write(chunk);
		});
		upstream.on('data', (chunk) => {
			if (!doomed) client.write(chunk);
			// The server answers an autocommit statement once it is committed.
			else if (chunk.includes('SELECT') || chunk.includes('INSERT') || chunk.includes('UPDATE')) {
				lost += 1;
				left -= 1;
				if (left <= 0) losing = null;
				client.destroy();
			}
		});
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		port: (server.address() as AddressInfo).port,
		lose: (statement, times = Infinity) => {
			losing = statement;
			left = times;
		},
		cut: () => {
			isCut = true;
			for (const socket of sockets) socket.destroy();
		},
		heal: () => {
			losing = null;
			isCut = false;
		},
		get lost() {
			return lost;
		},
		seen: (statement) => sent.filter((text) => statement.test(text)).length,
		close: async () => {
			for (const socket of sockets) socket.destroy();
			server.close();
			await once(server, 'close');
		},
	};
}
