import type { Header } from './wasm/generated/boundary';

/**
 * The headers of a delivery that may be kept: without those that vouch for the sender. A signature is used up once it is
 * verified, and a token or a cookie would open somebody's door for as long as the record is kept.
 *
 * @param signatureHeaders names of the headers that this provider signs with, in any case
 */
export function savedHeaders(headers: readonly Header[], signatureHeaders: readonly string[]): Header[] {
	const signing = new Set(signatureHeaders.map((name) => name.toLowerCase()));
	return headers.filter(([name]) => !signing.has(name.toLowerCase()) && !SECRET.test(name));
}

/** Generously: a header that is missing in a recovered delivery harms nobody. Addresses may carry a token in their query. */
const SECRET =
	/api-?key|authori[sz]ation|authentication|auth-?token|cookie|credential|csrf|hmac|passphrase|passw|secret|session|sessid|signature|token|(^|[-_.])(auth|jwt|key|nonce|otp|pass|sig|signed)($|[-_.])|(original|forwarded|request)-(uri|url)|^referer$/i;
