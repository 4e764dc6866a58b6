//! `VerifyRequest`, `VerifyAnswer`.

use alloc::string::String;
use alloc::vec::Vec;

use gate_core::header::Headers;
use gate_core::signature::{CustomScheme, Request, Verified};

use super::answer::Answer;
use super::request::read;
use super::scheme;
use crate::calls::Malformed;

/// A request to verify.
#[derive(Debug)]
pub(crate) struct VerifyRequest {
    pub(crate) provider: String,
    pub(crate) custom: Option<CustomScheme>,
    headers: Vec<(String, String)>,
    now_ms: u64,
    tolerance_ms: Option<u64>,
}

impl VerifyRequest {
    pub(crate) fn read(text: &str) -> Result<Self, Malformed> {
        let mut request = read(text)?;
        let provider = request.text("provider");
        let read = Self {
            custom: scheme::custom(&mut request, &provider)?,
            provider,
            headers: request.headers(),
            now_ms: request.milliseconds("nowMs"),
            // Below 1 ms becomes 0, which the core refuses with words.
            tolerance_ms: request.optional_milliseconds("toleranceMs"),
        };
        request.end()?;
        Ok(read)
    }

    /// The same for the core.
    pub(crate) fn with_body<'a>(&'a self, body: &'a [u8]) -> Request<'a> {
        let Self {
            headers,
            now_ms,
            tolerance_ms,
            ..
        } = self;
        Request {
            headers: Headers(headers),
            body,
            now_ms: *now_ms,
            tolerance_ms: *tolerance_ms,
        }
    }
}

pub(crate) fn answer(verified: &Verified<'_>) -> String {
    Answer::of_type("verified")
        .text("scheme", verified.scheme)
        .number("secretIndex", verified.secret_index as u64)
        .nullable_number("signedAtMs", verified.signed_at_ms)
        .flag("weak", verified.weak)
        .end()
}

/// What the form of a secret tells: nothing is wrong with it.
pub(crate) fn secret_looks_right() -> String {
    let message = "Looks right. It is checked against real requests when one arrives.";
    Answer::of_type("ok").text("message", message).end()
}
