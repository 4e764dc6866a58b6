//! Reading a signature header: the signatures that count, and the time where the header holds it.

use alloc::vec;
use alloc::vec::Vec;

use super::fault::Fault;
use super::scheme::{Algorithm, Grammar, Scheme};

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
pub(super) fn read<'a, 'h>(scheme: &Scheme<'a>, name: &'a str, value: &'h str) -> Result<Signatures<'h>, Fault<'a>> {
    let (timestamp, labelled) = match scheme.grammar {
        Grammar::Single => (None, single(scheme, name, value)?),
        Grammar::Pairs { separator, timestamp } => pairs(name, value, separator, timestamp)?,
        Grammar::Words => (None, words(name, value)?),
    };
    let mut counted = 0_usize;
    let mut candidates = Vec::new();
    for (label, text) in labelled {
        let Some(label) = scheme.labels.iter().find(|known| known.text == label) else {
            continue;
        };
        counted = counted.saturating_add(1);
        if counted > MAX_SIGNATURES {
            return Err(Fault::TooManySignatures(name));
        }
        // A signature that cannot be read is skipped: a newer form may stand beside the one that is known.
        candidates.extend(candidate(scheme, label.algorithm, text));
    }
    if candidates.is_empty() {
        return Err(Fault::SignatureMalformed(name));
    }
    Ok(Signatures { timestamp, candidates })
}

type Labelled<'h> = Vec<(&'h str, &'h str)>;

/// Node.js hands out a header that was sent twice as one value, joined with a comma and a space. No scheme writes that by
/// itself.
fn is_joined(value: &str) -> bool {
    value.as_bytes().windows(2).any(|pair| pair == b", ")
}

/// The whole value is one label and one signature.
fn single<'a, 'h>(scheme: &Scheme<'_>, name: &'a str, value: &'h str) -> Result<Labelled<'h>, Fault<'a>> {
    let split = |label: &str| value.split_at_checked(label.len()).filter(|(front, _)| *front == label);
    match scheme.labels.iter().find_map(|label| split(label.text)) {
        None => Err(Fault::SignatureMalformed(name)),
        Some((_, signature)) if is_joined(signature) => Err(Fault::Repeated(name)),
        Some(pair) => Ok(vec![pair]),
    }
}

/// A word without a label is skipped, as one with an unknown label is.
fn words<'a, 'h>(name: &'a str, value: &'h str) -> Result<Labelled<'h>, Fault<'a>> {
    if is_joined(value) {
        return Err(Fault::Repeated(name));
    }
    Ok(value.split(' ').filter_map(|word| word.split_once(',')).collect())
}

/// Strict about the form, since a lenient reader and a strict one may see two different times.
fn pairs<'a, 'h>(
    name: &'a str,
    value: &'h str,
    separator: char,
    timestamp_name: &str,
) -> Result<(Option<&'h str>, Labelled<'h>), Fault<'a>> {
    if is_joined(value) {
        return Err(Fault::Repeated(name));
    }
    if value.chars().any(char::is_whitespace) {
        return Err(Fault::SignatureMalformed(name));
    }
    let mut timestamp = None;
    let mut labelled = Vec::new();
    for pair in value.split(separator) {
        let (label, text) = pair.split_once('=').ok_or(Fault::SignatureMalformed(name))?;
        if label != timestamp_name {
            labelled.push((label, text));
        } else if timestamp.replace(text).is_some() {
            return Err(Fault::Repeated(name));
        }
    }
    match timestamp {
        Some("") | None => Err(Fault::TimestampMissing(name)),
        Some(_) => Ok((timestamp, labelled)),
    }
}

fn candidate(scheme: &Scheme<'_>, algorithm: Algorithm, text: &str) -> Option<Candidate> {
    let signature = scheme.encoding.decode(text)?;
    (signature.len() == algorithm.signature_len()).then_some(Candidate { algorithm, signature })
}

#[cfg(test)]
#[path = "grammar_tests.rs"]
mod tests;
