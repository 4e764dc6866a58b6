/** Why something failed, fit to be stored and shown: one line, without what looks like a secret, 500 characters. */
export function storedReason(text: string): string {
	const line = text
		.slice(0, LONGEST_READ)
		.replace(SECRETS, (_, address?: string, scheme?: string, name?: string) => `${address ?? scheme ?? name ?? ''}***`)
		.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
		.replace(/ {2,}/g, ' ')
		.trim();
	const characters = [...line];
	return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 3).join('')}...` : line;
}

const LONGEST = 500;

/** Some messages hold a whole page. */
const LONGEST_READ = 10_000;

/**
 * Messages of clients and databases carry passwords in addresses, tokens in headers, and keys of APIs. Not everything can
 * be known by its looks; what is known to look so is left out.
 */
const SECRETS =
	/(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)|(\b(?:Bearer|Basic)\s+)[\w.~+/=-]{8,}|\b(?:[srp]k_(?:live|test)|whsec|xox[abprs]|gh[pousr])[_-][\w-]{8,}|((?:password|secret|token|api[_-]?key)["']?\s*[=:]\s*["']?)[^\s"',&}]+/gi;
