import { Duplex } from 'node:stream';
import type { SSHCredentials, SSHTunnelFunctions } from 'n8n-workflow';

/** n8n keeps one SSH connection per credential and closes it when nobody asks for it for a while. */
export type SshClients = Pick<SSHTunnelFunctions, 'getSSHClient'>;

/** What we use of an ssh2 client, whose types n8n does not ship. */
interface Forwarding {
	forwardOut(
		fromHost: string,
		fromPort: number,
		toHost: string,
		toPort: number,
		done: (error: Error | undefined, channel: Duplex) => void,
	): void;
}

/**
 * What pg takes for a socket: a channel through n8n's SSH connection, without a port on this machine. The connection is
 * asked for anew each time, so one that n8n has closed meanwhile is simply made again.
 */
export class SshTunnel extends Duplex {
	private channel: Duplex | null = null;

	constructor(
		private readonly clients: SshClients,
		private readonly credentials: SSHCredentials,
	) {
		super();
	}

	/** pg calls this in place of `net.Socket.connect`. */
	connect(port: number, host: string): this {
		this.open(port, host).catch((error: Error) => this.destroy(error));
		return this;
	}

	override _read(): void {
		this.channel?.resume();
	}

	override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
		if (this.channel === null) done(new Error('the SSH tunnel is not open'));
		else this.channel.write(chunk, encoding, done);
	}

	override _final(done: () => void): void {
		this.channel?.end();
		done();
	}

	override _destroy(error: Error | null, done: (error: Error | null) => void): void {
		this.channel?.destroy();
		done(error);
	}

	/** Settings of a real socket that have no meaning within a channel; pg calls them. */
	setNoDelay(): this {
		return this;
	}

	setKeepAlive(): this {
		return this;
	}

	ref(): this {
		return this;
	}

	unref(): this {
		return this;
	}

	private async open(port: number, host: string): Promise<void> {
		const client: Forwarding = await this.clients.getSSHClient(this.credentials);
		const channel = await new Promise<Duplex>((resolve, reject) => {
			client.forwardOut('127.0.0.1', 0, host, port, (error, opened) => (error ? reject(error) : resolve(opened)));
		});
		this.channel = channel;
		channel.on('data', (chunk) => this.push(chunk) || channel.pause());
		channel.on('end', () => this.push(null));
		channel.on('error', (error) => this.destroy(error));
		channel.on('close', () => this.destroy());
		if (this.destroyed) channel.destroy();
		else this.emit('connect');
	}
}
