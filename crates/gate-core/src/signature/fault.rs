//! What can be wrong with a request, and the words for it. No fault holds anything of the request but the name of a header.

use alloc::borrow::Cow;
use alloc::format;

use super::grammar::MAX_SIGNATURES;
use crate::header::HeaderFault;
use crate::vocabulary::{Refusal, RejectionCode};

/// What is wrong. The texts are names of headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault<'a> {
    SignatureMissing(&'a str),
    SignatureMalformed(&'a str),
    /// Sent more than once, or joined from several.
    Repeated(&'a str),
    /// Says something else than the headers that the signature came with.
    Contradicting(&'a str),
    TooManySignatures(&'a str),
    SignatureMismatch,
    TimestampMissing(&'a str),
    TimestampMalformed,
    TimestampOutside {
        in_future: bool,
        distance_ms: u64,
        tolerance_ms: u64,
    },
    BodyEmpty,
    IdMissing(&'a str),
    /// Holds the separator of the signed text.
    IdAmbiguous(&'a str),
}

impl<'a> Fault<'a> {
    pub(super) const fn of_header(name: &'a str, fault: HeaderFault) -> Self {
        match fault {
            HeaderFault::Repeated => Self::Repeated(name),
            HeaderFault::ControlCharacter => Self::SignatureMalformed(name),
        }
    }

    pub(super) fn refusal(self) -> Refusal {
        let (code, help) = self.code_and_help();
        Refusal::rejected(code, self.message(), help)
    }

    fn message(self) -> Cow<'static, str> {
        let (name, what) = match self {
            Self::SignatureMissing(name) | Self::IdMissing(name) => (name, "is missing"),
            Self::SignatureMalformed(name) => (name, "does not hold a signature in the provider's form"),
            Self::Repeated(name) => (name, "was sent more than once"),
            Self::Contradicting(name) => (name, "contradicts the headers that the signature came with"),
            Self::TooManySignatures(name) => (name, "holds more signatures than any provider sends"),
            Self::TimestampMissing(name) => (name, "holds no timestamp"),
            Self::IdAmbiguous(name) => (name, "holds an event ID with the separator of the signed text"),
            Self::SignatureMismatch => return "The signature does not fit the body".into(),
            Self::TimestampMalformed => return "The timestamp of the request is not a plain number".into(),
            Self::BodyEmpty => return "The request has no body".into(),
            Self::TimestampOutside {
                in_future,
                distance_ms,
                tolerance_ms,
            } => {
                let side = if in_future { "in the future" } else { "old" };
                let (distance, tolerance) = (distance_ms.div_ceil(1000), tolerance_ms.div_ceil(1000));
                return format!("The timestamp of the request is {distance} s {side}; {tolerance} s are allowed")
                    .into();
            }
        };
        format!("The header '{name}' {what}").into()
    }

    const fn code_and_help(self) -> (RejectionCode, &'static str) {
        match self {
            Self::SignatureMissing(_) => (
                RejectionCode::SignatureMissing,
                "The request does not come from the provider, or a proxy dropped the header. Check that 'Provider' names the sender.",
            ),
            Self::SignatureMalformed(_) => (
                RejectionCode::SignatureMalformed,
                "Check that 'Provider' names the sender, and that nothing between the sender and n8n changes the headers.",
            ),
            Self::Repeated(_) => (
                RejectionCode::SignatureAmbiguous,
                "Which one counts is not defined, so none does. Check for a proxy that adds or repeats headers.",
            ),
            Self::Contradicting(_) => (
                RejectionCode::SignatureAmbiguous,
                "The request mixes two sets of headers. Check for a proxy that adds headers.",
            ),
            Self::TooManySignatures(_) => {
                const _: () = assert!(MAX_SIGNATURES == 16, "the help names the number");
                (RejectionCode::SignatureAmbiguous, "At most 16 are looked at.")
            }
            Self::SignatureMismatch => (
                RejectionCode::SignatureMismatch,
                "Check that the credential holds this endpoint's signing secret (test and live differ), that 'Raw Body' is on in \
                 the Webhook node, and that nothing on the way changes the body.",
            ),
            Self::TimestampMissing(_) => (
                RejectionCode::TimestampMissing,
                "The provider signs the time of sending. Check that 'Provider' names the sender, and that a proxy passes all \
                 headers on.",
            ),
            Self::TimestampMalformed => (
                RejectionCode::TimestampMalformed,
                "The provider sends decimal digits only. Check that nothing between the provider and n8n changes the headers.",
            ),
            Self::TimestampOutside { .. } => (
                RejectionCode::TimestampOutsideTolerance,
                "An old one may be a replay: let the provider send the event again. If many are refused, check this machine's \
                 clock, or raise 'Timestamp Tolerance'.",
            ),
            Self::BodyEmpty => (
                RejectionCode::BodyEmpty,
                "This provider always sends one. Set 'HTTP Method' of the Webhook node to POST, and turn on 'Raw Body'.",
            ),
            Self::IdMissing(_) => (
                RejectionCode::EventIdMissing,
                "The provider signs the event ID, so a request without it cannot be checked. Check that a proxy passes all \
                 headers on.",
            ),
            Self::IdAmbiguous(_) => (
                RejectionCode::EventIdInvalid,
                "Such an ID could be cut in two places, so the signature would stand for two events.",
            ),
        }
    }
}
