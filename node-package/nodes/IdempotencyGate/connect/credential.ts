import type { ConnectionOptions } from 'node:tls';
import type { SSHCredentials } from 'n8n-workflow';

/** n8n's own `postgres` credential, plus the name the user gave it. */
export interface PostgresCredential {
	readonly name: string;
	readonly host: string;
	readonly port: number;
	readonly database: string;
	readonly user: string;
	readonly password: string;
	readonly allowUnauthorizedCerts?: boolean;
	readonly ssl?: 'allow' | 'disable' | 'require';
	readonly sshTunnel?: boolean;
	readonly sshAuthenticateWith?: 'password' | 'privateKey';
	readonly sshHost?: string;
	readonly sshPort?: number;
	readonly sshUser?: string;
	readonly sshPassword?: string;
	readonly privateKey?: string;
	readonly passphrase?: string;
}

/** As n8n's Postgres node reads the credential: `allow` and `require` both mean TLS with the certificate checked. */
export function tlsOf({ allowUnauthorizedCerts, ssl }: PostgresCredential): ConnectionOptions | boolean {
	if (allowUnauthorizedCerts === true) return { rejectUnauthorized: false };
	return ssl === 'allow' || ssl === 'require';
}

export function sshOf(credential: PostgresCredential): SSHCredentials {
	const { sshHost = '', sshPort = 22, sshUser = '', passphrase } = credential;
	const where = { sshHost, sshPort, sshUser };
	if (credential.sshAuthenticateWith !== 'privateKey') {
		return { ...where, sshAuthenticateWith: 'password', sshPassword: credential.sshPassword ?? '' };
	}
	const privateKey = withLines(credential.privateKey ?? '');
	return { ...where, sshAuthenticateWith: 'privateKey', privateKey, ...(passphrase && { passphrase }) };
}

/** The editor's password fields hold one line, so a pasted key has lost its line ends. */
function withLines(pem: string): string {
	const [, begin, body, end] = /^\s*(-----BEGIN [A-Z0-9 ]+-----)([^-]*)(-----END [A-Z0-9 ]+-----)\s*$/.exec(pem) ?? [];
	if (begin === undefined || body === undefined || end === undefined || pem.trim().includes('\n')) return pem;
	const lines = body.replaceAll('\\n', ' ').trim().split(/\s+/).flatMap((line) => line.match(/.{1,64}/g) ?? []);
	return [begin, ...lines, end, ''].join('\n');
}
