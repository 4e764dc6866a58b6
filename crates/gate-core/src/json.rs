//! Strict JSON (RFC 8259) over the raw bytes of a body. Nothing is repaired and nothing is rounded: a number stays the text
//! it was. Memory and stack are bounded by the size of the body and by [`MAX_DEPTH`].

mod extract;
mod reader;
mod string;

pub use extract::{Found, extract};
pub use reader::{Reader, Token};
pub use string::RawString;

use alloc::format;

use crate::vocabulary::{Refusal, RejectionCode};

/// Containers within containers, at most. Deeper JSON is refused by name instead of risking the stack.
pub const MAX_DEPTH: usize = 128;

/// Why bytes are not the JSON that was asked for, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong.
    pub fault: Fault,
    /// Where, bytes from the start of the body.
    pub offset: usize,
}

/// What can be wrong with JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not UTF-8.
    NotUtf8,
    /// Not the grammar of RFC 8259, or cut off, or something stands behind it.
    Syntax,
    /// Nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// A name stands twice in one object, so parsers disagree about the value.
    DuplicateName,
    /// Half of a surrogate pair: not a character.
    LoneSurrogate,
    /// A number that the canonical form cannot hold.
    NumberOutOfRange,
}

impl Fault {
    const fn describe(self) -> &'static str {
        match self {
            Self::NotUtf8 => "is not UTF-8",
            Self::Syntax => "is not JSON",
            Self::TooDeep => "is nested deeper than 128 levels",
            Self::DuplicateName => "holds a name twice in one object",
            Self::LoneSurrogate => "holds half of a surrogate pair",
            Self::NumberOutOfRange => "holds a number that is too large or too small",
        }
    }
}

impl JsonError {
    /// The refusal of a delivery whose body had to be JSON.
    #[must_use]
    pub fn refusal(self) -> Refusal {
        let message = format!("The body {} (byte {})", self.fault.describe(), self.offset);
        match self.fault {
            Fault::TooDeep => Refusal::rejected(
                RejectionCode::BodyTooDeep,
                message,
                "No known provider nests its events that deep. If yours does, take the event id from a header or an expression.",
            ),
            _ => Refusal::rejected(
                RejectionCode::BodyNotJson,
                message,
                "Check that the sender posts JSON and that nothing on the way changes it. For other formats, take the event id from a header or an expression.",
            ),
        }
    }
}

/// Checks that a body is UTF-8. The text still has its byte order mark, so that offsets are those of the body.
///
/// # Errors
/// [`Fault::NotUtf8`] with the offset of the first byte that is not.
pub fn utf8(body: &[u8]) -> Result<&str, JsonError> {
    core::str::from_utf8(body).map_err(|error| JsonError {
        fault: Fault::NotUtf8,
        offset: error.valid_up_to(),
    })
}

#[cfg(test)]
mod tests;
