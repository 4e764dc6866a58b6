//! One text per JSON value: RFC 8785 (JCS), and a variant that keeps every digit of a number.
//!
//! Strict RFC 8785 reads numbers as doubles, so that `1234567890123456789` and `...790` become the same text: two events,
//! one digest, a lost event. [`Mode::GateExact1`] writes a number as RFC 8785 does where its decimal value is the shortest
//! one of its double, and with all of its digits otherwise. It never merges two values and never splits one.

mod double;
mod exclude;
mod index;
mod number;
mod write;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use sha2::{Digest as _, Sha256};

use crate::encoding;
use crate::json::{self, Fault, JsonError};
pub use crate::vocabulary::CanonicalMode as Mode;
use crate::vocabulary::{Refusal, RejectionCode};
use exclude::Exclusions;
use index::Index;
use write::Sink;

/// A digest, and what it was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// `sha256:` and 64 lower-case hex digits.
    pub text: String,
    /// What was hashed.
    pub form: Form,
}

/// What a digest was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The canonical form.
    Canonical(Mode),
    /// The bytes as received, since they have no canonical form.
    Raw,
}

impl Form {
    /// The text that crosses the boundary: the mode's, or `raw`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Canonical(mode) => mode.as_str(),
            Self::Raw => "raw",
        }
    }
}

/// The canonical form of a body. `exclude`: JSON pointers (RFC 6901) to what is left out; `*` stands for every element of an
/// array. A pointer to nothing is fine: not every delivery has every field.
///
/// # Errors
/// `body_empty`, `body_not_json`, `body_too_deep`, `pointer_invalid`.
pub fn canonicalize(mode: Mode, exclude: &[String], body: &[u8]) -> Result<Vec<u8>, Refusal> {
    let exclusions = Exclusions::parse(exclude)?;
    if body.is_empty() {
        return Err(body_empty());
    }
    let mut bytes = Vec::with_capacity(body.len());
    write_canonical(mode, &exclusions, body, &mut bytes).map_err(JsonError::refusal)?;
    Ok(bytes)
}

/// SHA-256 of the canonical form, or of the raw bytes where the body has none: it is not JSON, a name stands twice in one
/// object, a string is not Unicode, a number is beyond all use. The canonical form is hashed as it is written, not kept.
///
/// # Errors
/// `body_too_deep`, `pointer_invalid`.
pub fn digest(mode: Mode, exclude: &[String], body: &[u8]) -> Result<Digest, Refusal> {
    let (hex, form) = digest_hex(mode, exclude, body)?;
    Ok(Digest {
        text: format!("sha256:{hex}"),
        form,
    })
}

/// [`digest`] as hex digits only.
pub(crate) fn digest_hex(mode: Mode, exclude: &[String], body: &[u8]) -> Result<(String, Form), Refusal> {
    let exclusions = Exclusions::parse(exclude)?;
    let mut hash = Sha256::new();
    let form = match write_canonical(mode, &exclusions, body, &mut hash) {
        Ok(()) => Form::Canonical(mode),
        Err(error) if error.fault == Fault::TooDeep => return Err(error.refusal()),
        Err(_) => {
            hash = Sha256::new_with_prefix(body);
            Form::Raw
        }
    };
    Ok((encoding::to_hex(&hash.finalize()), form))
}

fn write_canonical(mode: Mode, exclude: &Exclusions, body: &[u8], sink: &mut dyn Sink) -> Result<(), JsonError> {
    let text = json::utf8(body)?;
    let index = Index::build(text, exclude)?;
    write::write(text, &index, mode, sink)
}

fn body_empty() -> Refusal {
    Refusal::rejected(
        RejectionCode::BodyEmpty,
        "The body of the request is empty",
        "There is nothing in it that could tell one event from another.",
    )
}

#[cfg(test)]
mod tests;
