/** HTTP deliveries, one or many. */
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';

const TIMEOUT_MS = 120_000;

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {string} text
 * @property {any} json     the parsed text, or `undefined` where it is not JSON
 * @property {Record<string, string | string[] | undefined>} headers
 * @property {number} ms    from writing the request to the end of the answer
 */

/** One delivery. @returns {Promise<Answer>} */
export async function deliver(url, request) {
	const [answer] = await burst(url, [request]);
	return answer;
}

/**
 * Deliveries at the same moment: every connection is open before the first byte is written, and then all requests are
 * written in one go. Answers come back in the order of the requests.
 *
 * @param {string} url
 * @param {{ headers: Record<string, string>, body: Buffer }[]} requests
 * @returns {Promise<Answer[]>}
 */
export async function burst(url, requests) {
	const { hostname, port } = new URL(url);
	const sockets = await Promise.all(
		requests.map(async () => {
			const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
			await once(socket, 'connect');
			return socket;
		}),
	);
	return await Promise.all(requests.map((request, index) => send(url, request, sockets[index])));
}

function send(url, { headers, body }, socket) {
	return new Promise((resolve, reject) => {
		const started = performance.now();
		const request = http.request(url, {
			method: 'POST',
			headers: { ...headers, 'content-length': body.length, connection: 'close' },
			createConnection: () => socket,
			timeout: TIMEOUT_MS,
		});
		request.once('timeout', () => request.destroy(new Error(`no answer from ${url} after ${TIMEOUT_MS / 1000} s`)));
		request.once('error', reject);
		request.once('response', async (response) => {
			try {
				const chunks = [];
				for await (const chunk of response) chunks.push(chunk);
				const text = Buffer.concat(chunks).toString();
				resolve({ status: response.statusCode ?? 0, text, json: parsed(text), headers: response.headers, ms: performance.now() - started });
			} catch (error) {
				reject(error);
			}
		});
		request.end(body);
	});
}

function parsed(text) {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
