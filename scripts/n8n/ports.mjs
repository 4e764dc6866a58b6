/** Free ports on 127.0.0.1. */
import { createServer } from 'node:net';

/** The wished-for port if it is free, else any free one. */
export async function choosePort(wish = 0) {
	return (await tryPort(wish)) ?? (await tryPort(0));
}

function tryPort(port) {
	return new Promise((resolve, reject) => {
		const server = createServer();
		server.once('error', (error) => (error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(null) : reject(error)));
		server.listen(port, '127.0.0.1', () => {
			const { port: chosen } = server.address();
			server.close(() => resolve(chosen));
		});
	});
}
