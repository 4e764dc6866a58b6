//! Texts that stand where a secret should be. Anyone can guess them, so a signature under one proves nothing.
//!
//! Only what nobody chooses: a weak secret that somebody did choose (`secret`, `123456`) is not ours to refuse.

use alloc::string::String;

/// Whole texts, in lower case.
const WORDS: &[&str] = &[
    "[object object]",
    "changeme",
    "nan",
    "none",
    "null",
    "placeholder",
    "todo",
    "undefined",
];

/// Beginnings, in lower case, with `-` and space written as `_`.
const BEGINNINGS: &[&str] = &[
    "={{",
    "$env.",
    "$json.",
    "$vars.",
    "__n8n_blank_value",
    "change_me",
    "enter_your_",
    "insert_your_",
    "paste_your_",
    "process.env",
    "replace_me",
    "replace_with_",
    "your_",
];

/// Pairs that enclose a name to be filled in: a template that was not.
const ENCLOSURES: &[(&str, &str)] = &[("<", ">"), ("${", "}"), ("%", "%"), ("__", "__")];

/// True where the text (without white space around it) is no secret but the place for one.
pub(super) fn is_placeholder(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let folded: String = lower
        .chars()
        .map(|c| if matches!(c, '-' | ' ') { '_' } else { c })
        .collect();
    WORDS.contains(&lower.as_str())
        || BEGINNINGS.iter().any(|beginning| folded.starts_with(beginning))
        || ENCLOSURES
            .iter()
            .any(|(open, close)| lower.len() > 2 && lower.starts_with(open) && lower.ends_with(close))
        || has_pair(&lower, b'{') && has_pair(&lower, b'}')
        || lower.ends_with("...")
        || lower.ends_with('…')
        || is_masked(text)
}

/// True where the character stands twice in a row, as in `{{`.
fn has_pair(text: &str, c: u8) -> bool {
    text.as_bytes().windows(2).any(|pair| pair == [c, c])
}

/// Dots, stars or crosses, as a form shows a secret that it hides.
fn is_masked(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '*' | '•' | '●' | '.' | 'x' | 'X'))
}

#[cfg(test)]
mod tests {
    use super::is_placeholder;

    #[test]
    fn unset_variables_templates_and_masks_are_no_secrets() {
        for text in [
            "undefined",
            "NULL",
            "[object Object]",
            "={{ $env.SECRET }}",
            "{{ $json.secret }}",
            "your_webhook_secret",
            "YOUR-SIGNING-SECRET",
            "your secret here",
            "<secret>",
            "${STRIPE_SECRET}",
            "%SECRET%",
            "changeme",
            "change-me",
            "process.env.SECRET",
            "whsec_...",
            "••••••••",
            "********",
            "xxxx",
        ] {
            assert!(is_placeholder(text), "{text}");
        }
    }

    #[test]
    fn what_somebody_may_have_chosen_is_a_secret() {
        for text in [
            "It's a Secret to Everybody",
            "development",
            "test_secret_key",
            "123456",
            "foo",
            "INVALID_VALID_SECRET",
            "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "whsec_test_secret",
            "nullify-17",
            "my {single} brace",
        ] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
