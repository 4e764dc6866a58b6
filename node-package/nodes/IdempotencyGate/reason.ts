/** Why something failed, fit to be stored and shown: one line, without what looks like a secret, 500 characters. */
export function storedReason(text: string): string {
	const line = text
		.slice(0, LONGEST_READ)
		.replace(SECRETS, '$1$2$3$4***')
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
const SECRETS = new RegExp(
	[
		// A group is kept: the user of an address, the scheme of a header, the name of a field or of a parameter.
		String.raw`(:\/\/[^\s/:@]*:)[^\s/@]+(?=@)`,
		String.raw`(\b(?:Bearer|Basic)\s+)[\w.~+/=-]{8,}`,
		String.raw`\b(?:[srp]k_(?:live|test)|whsec|xox[abprs]|gh[pousr]|github_pat)[_-][\w-]{8,}`,
		String.raw`\b(?:sk|glpat)-[\w-]{12,}`,
		String.raw`\bA[KS]IA(?=[A-Z]*[0-9])[A-Z0-9]{16}\b`,
		// A JSON Web Token: its first part is JSON.
		String.raw`\beyJ[\w-]{5,}\.[\w-]+(?:\.[\w-]*)*`,
		String.raw`((?:password|secret|token|api[_-]?key)["']?\s*[=:]\s*["']?)[^\s"',&}]+`,
		String.raw`([?&](?:sig|signature|x-amz-signature)=)[^\s"'&#]+`,
	].join('|'),
	'gi',
);
