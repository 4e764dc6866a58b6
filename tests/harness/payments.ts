/**
 * A service that does things which must not be done twice, for workflows to call: POST with `{ "order": … }`, at any path.
 * Below `/keyed/` it honours the header Idempotency-Key, as Stripe does; elsewhere it does again what it is asked again.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Call {
	readonly path: string;
	/** The header Idempotency-Key. */
	readonly key: string | null;
	readonly body: Readonly<Record<string, unknown>>;
}

export interface Payments {
	readonly url: string;
	/** Every call in the order received, also those that had no effect. */
	readonly calls: readonly Call[];
	/** What was done. */
	readonly effects: readonly Call[];
	/**
	 * The next call to the path is not answered: it is held `before` or `after` it has its effect. Resolves when it has
	 * come that far, and so has the workflow that made it.
	 */
	hold(path: string, when: 'before' | 'after'): Promise<void>;
	/** The next call to the path is answered with a 503 and has no effect. */
	refuse(path: string): void;
	close(): Promise<void>;
}

export async function startPayments(): Promise<Payments> {
	const calls: Call[] = [];
	const effects: Call[] = [];
	const holding = new Map<string, { readonly when: 'before' | 'after'; arrived(): void }>();
	const refusing = new Set<string>();

	const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		const call = await read(request);
		calls.push(call);
		const hold = holding.get(call.path);
		holding.delete(call.path);
		if (hold?.when === 'before') {
			hold.arrived();
			return;
		}
		const isRefused = refusing.delete(call.path);
		const earlier = call.path.startsWith('/keyed/') && call.key !== null && effects.some(({ path, key }) => path === call.path && key === call.key);
		if (!isRefused && !earlier) effects.push(call);
		if (hold) {
			hold.arrived();
			return;
		}
		response.writeHead(isRefused ? 503 : 200, { 'content-type': 'application/json' });
		response.end(JSON.stringify(isRefused ? { message: 'come back later' } : { done: true, repeated: earlier }));
	};

	const server = createServer((request, response) => void serve(request, response));
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		calls,
		effects,
		hold: async (path, when) => await new Promise<void>((arrived) => holding.set(path, { when, arrived })),
		refuse: (path) => refusing.add(path),
		close: async () => {
			server.close();
			server.closeAllConnections();
			await once(server, 'close');
		},
	};
}

async function read(request: IncomingMessage): Promise<Call> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	const key = request.headers['idempotency-key'];
	return {
		path: request.url ?? '',
		key: typeof key === 'string' ? key : null,
		body: JSON.parse(Buffer.concat(chunks).toString()) as Call['body'],
	};
}
