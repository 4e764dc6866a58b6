//! The request of `canonicalize` and `canonicalDigest`, and `DigestAnswer`.

use alloc::string::String;
use alloc::vec::Vec;

use gate_core::canonical::{Digest, Mode};

use super::answer::Answer;
use super::request::read;
use crate::calls::Malformed;

/// How to write the JSON.
#[derive(Debug)]
pub(crate) struct CanonicalRequest {
    pub(crate) mode: Mode,
    pub(crate) exclude: Vec<String>,
}

impl CanonicalRequest {
    pub(crate) fn read(text: &str) -> Result<Self, Malformed> {
        let mut request = read(text)?;
        let (mode, exclude) = (request.word("mode", Mode::parse), request.texts("exclude"));
        request.end()?;
        let mode = mode.ok_or(Malformed { field: "mode" })?;
        Ok(Self { mode, exclude })
    }
}

pub(crate) fn digest(digest: &Digest) -> String {
    Answer::of_type("digest")
        .text("digest", &digest.text)
        .text("form", digest.form.as_str())
        .end()
}

/// Canonical JSON is text, so it crosses as text; the wrapper makes the bytes of the contract.
pub(crate) fn canonical(bytes: &[u8]) -> String {
    let text = core::str::from_utf8(bytes).unwrap_or_default();
    Answer::of_type("canonical").text("text", text).end()
}
