/** A TCP proxy to a PostgreSQL that can lose the answer to a statement after the server has carried it out. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** `T`, `D` and `C` begin the messages RowDescription, DataRow and CommandComplete: an answer, not a handshake. */
const ANSWERS = /^[TDC12]/;
/** ReadyForQuery ends each answer: the server has committed. `I`: not within a transaction. */
const COMMITTED = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export class LossyProxy {
	/** Answers lost so far. */
	lost = 0;
	private toLose = 0;
	private readonly sockets = new Set<Socket>();

	private constructor(private readonly server: Server) {}

	static async to(url: URL): Promise<LossyProxy> {
		const server = createServer();
		const proxy = new LossyProxy(server);
		server.on('connection', (near) => proxy.join(near, connect(Number(url.port || 5432), url.hostname)));
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		return proxy;
	}

	get port(): number {
		return (this.server.address() as AddressInfo).port;
	}

	loseAnswers(count: number): void {
		this.toLose = count;
	}

	async close(): Promise<void> {
		for (const socket of this.sockets) socket.destroy();
		this.server.close();
		await once(this.server, 'close');
	}

	private join(near: Socket, far: Socket): void {
		let held = Buffer.alloc(0);
		let asked = false;
		for (const socket of [near, far]) {
			this.sockets.add(socket);
			socket.on('error', () => {});
			socket.on('close', () => {
				this.sockets.delete(socket);
				near.destroy();
				far.destroy();
			});
		}
		near.on('data', (chunk) => {
			// Parse begins an unnamed statement with values: the claim itself.
			asked ||= chunk[0] === 0x50;
			far.write(chunk);
		});
		far.on('data', (chunk) => {
			const losing = this.toLose > 0 && asked && (held.length > 0 || ANSWERS.test(chunk.toString('latin1')));
			if (!losing) {
				near.write(chunk);
				return;
			}
			held = Buffer.concat([held, chunk]);
			if (!held.subarray(-COMMITTED.length).equals(COMMITTED)) return;
			this.toLose--;
			this.lost++;
			near.destroy();
			far.destroy();
		});
	}
}
