//! One text per JSON value: RFC 8785 (JCS), and a variant that keeps every digit of a number.

pub use crate::vocabulary::CanonicalMode as Mode;
use crate::vocabulary::Refusal;

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

/// The canonical form of a body. `exclude`: RFC 6901 JSON pointers to what is left out.
///
/// # Errors
/// `body_empty`, `body_not_json`, `body_too_deep`, `pointer_invalid`.
pub fn canonicalize(_mode: Mode, _exclude: &[String], _body: &[u8]) -> Result<Vec<u8>, Refusal> {
    Ok(Vec::new())
}

/// SHA-256 of the canonical form, or of the raw bytes where the body has none.
///
/// # Errors
/// `body_too_deep`, `pointer_invalid`.
pub fn digest(mode: Mode, _exclude: &[String], _body: &[u8]) -> Result<Digest, Refusal> {
    Ok(Digest {
        text: String::new(),
        form: Form::Canonical(mode),
    })
}
