//! Reading a signature header: the signatures that count, and the time where the header holds it.

use super::scheme::{Algorithm, Grammar, Scheme};
use crate::vocabulary::{Refusal, RejectionCode};

/// More candidates than any provider sends; a header must not buy hashing work.
pub const MAX_SIGNATURES: usize = 16;

/// What a signature header holds.
#[derive(Debug)]
pub(super) struct Signatures<'h> {
    /// The time as text; `None` where the grammar has no place for it.
    pub(super) timestamp: Option<&'h str>,
    /// Readable signatures under labels that count, in the order sent. Never empty.
    pub(super) candidates: Vec<Candidate>,
}

/// One signature to try.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) algorithm: Algorithm,
    /// Exactly as long as the algorithm's signatures are.
    pub(super) signature: Vec<u8>,
}

/// Reads the value of the signature header `name`.
pub(super) fn read<'h>(scheme: &Scheme<'_>, name: &str, value: &'h str) -> Result<Signatures<'h>, Refusal> {
    let (timestamp, labelled) = match scheme.grammar {
        Grammar::Single => (None, single(scheme, name, value)?),
        Grammar::Pairs { separator, timestamp } => pairs(name, value, separator, timestamp)?,
        Grammar::Words => (None, words(name, value)?),
    };
    let counted: Vec<_> = labelled
        .iter()
        .filter_map(|&(label, text)| Some((scheme.labels.iter().find(|known| known.text == label)?.algorithm, text)))
        .collect();
    if counted.len() > MAX_SIGNATURES {
        return Err(Refusal::rejected(
            RejectionCode::SignatureAmbiguous,
            format!("The header '{name}' holds more than {MAX_SIGNATURES} signatures"),
            "No provider sends that many. The request was not accepted.",
        ));
    }
    // A signature that cannot be read is skipped: a newer form may stand beside the one that is known.
    let candidates: Vec<_> = counted
        .into_iter()
        .filter_map(|(algorithm, text)| candidate(scheme, algorithm, text))
        .collect();
    if candidates.is_empty() {
        return Err(malformed(name));
    }
    Ok(Signatures { timestamp, candidates })
}

/// A header of the scheme came more than once.
pub(super) fn repeated(name: &str) -> Refusal {
    Refusal::rejected(
        RejectionCode::SignatureAmbiguous,
        format!("The header '{name}' was sent more than once"),
        "Which one counts is not defined, so none does. Check for a proxy that adds or repeats headers.",
    )
}

/// The header is not in the provider's form.
pub(super) fn malformed(name: &str) -> Refusal {
    Refusal::rejected(
        RejectionCode::SignatureMalformed,
        format!("The header '{name}' does not hold a signature in the provider's form"),
        "Check that 'Provider' names the sender, and that nothing between the sender and n8n changes the headers.",
    )
}

type Labelled<'h> = Vec<(&'h str, &'h str)>;

/// Node.js hands out a header that was sent twice as one value, joined with a comma and a space. No scheme writes that by
/// itself.
fn is_joined(value: &str) -> bool {
    value.as_bytes().windows(2).any(|pair| pair == b", ")
}

/// The whole value is one label and one signature.
fn single<'h>(scheme: &Scheme<'_>, name: &str, value: &'h str) -> Result<Labelled<'h>, Refusal> {
    let split = |label: &str| value.split_at_checked(label.len()).filter(|(front, _)| *front == label);
    match scheme.labels.iter().find_map(|label| split(label.text)) {
        None => Err(malformed(name)),
        Some((_, signature)) if is_joined(signature) => Err(repeated(name)),
        Some(pair) => Ok(vec![pair]),
    }
}

/// A word without a label is skipped, as one with an unknown label is.
fn words<'h>(name: &str, value: &'h str) -> Result<Labelled<'h>, Refusal> {
    if is_joined(value) {
        return Err(repeated(name));
    }
    Ok(value.split(' ').filter_map(|word| word.split_once(',')).collect())
}

/// Strict about the form, since a lenient reader and a strict one may see two different times.
fn pairs<'h>(
    name: &str,
    value: &'h str,
    separator: char,
    timestamp_name: &str,
) -> Result<(Option<&'h str>, Labelled<'h>), Refusal> {
    if value.contains(char::is_whitespace) {
        return Err(if is_joined(value) {
            repeated(name)
        } else {
            malformed(name)
        });
    }
    let mut timestamp = None;
    let mut labelled = Vec::new();
    for pair in value.split(separator) {
        let (label, text) = pair.split_once('=').ok_or_else(|| malformed(name))?;
        if label != timestamp_name {
            labelled.push((label, text));
        } else if timestamp.replace(text).is_some() {
            return Err(repeated(name));
        }
    }
    match timestamp {
        Some("") | None => Err(timestamp_missing(name)),
        Some(_) => Ok((timestamp, labelled)),
    }
}

/// The scheme signs a time, and the header `name` should have held it.
pub(super) fn timestamp_missing(name: &str) -> Refusal {
    Refusal::rejected(
        RejectionCode::TimestampMissing,
        format!("The header '{name}' holds no timestamp"),
        "The provider signs the time of sending. Check that 'Provider' names the sender, and that a proxy passes all headers on.",
    )
}

fn candidate(scheme: &Scheme<'_>, algorithm: Algorithm, text: &str) -> Option<Candidate> {
    let signature = scheme.encoding.decode(text)?;
    (signature.len() == algorithm.signature_len()).then_some(Candidate { algorithm, signature })
}

#[cfg(test)]
#[path = "grammar_tests.rs"]
mod tests;
