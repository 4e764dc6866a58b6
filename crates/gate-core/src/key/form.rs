//! Fields of a form body (`application/x-www-form-urlencoded`, as the URL standard reads it).

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// What a form says under a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FormValue {
    /// Nothing.
    Absent,
    /// Several values: which one counts is a matter of taste.
    Repeated,
    /// Bytes that are not UTF-8.
    NotText,
    /// One text.
    Text(String),
}

/// Reads one field.
pub(super) fn field(body: &str, name: &str) -> FormValue {
    let pairs = body.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let mut values = pairs
        .filter(|(given, _)| *decode(given) == *name.as_bytes())
        .map(|(_, value)| value);
    match (values.next(), values.next()) {
        (None, _) => FormValue::Absent,
        (Some(value), None) => match String::from_utf8(decode(value).into_owned()) {
            Ok(text) => FormValue::Text(text),
            Err(_) => FormValue::NotText,
        },
        (Some(_), Some(_)) => FormValue::Repeated,
    }
}

fn decode(text: &str) -> Cow<'_, [u8]> {
    if !text.contains(['+', '%']) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let (decoded, after) = match (byte, after) {
            (b'+', _) => (b' ', after),
            (b'%', [high, low, after @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, after),
                _ => (b'%', rest.get(1..).unwrap_or_default()),
            },
            _ => (byte, after),
        };
        bytes.push(decoded);
        rest = after;
    }
    Cow::Owned(bytes)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}
