//! Is the request from whom it claims to be? Over the raw body, against one fixed scheme.
//!
//! Never guessed: the text that one scheme signs can be sent as the *body* under another. The user names the provider.

mod custom;
mod fault;
mod grammar;
mod mac;
mod scheme;
mod timestamp;
mod verify;

pub use custom::CustomScheme;
pub use grammar::MAX_SIGNATURES;
pub use scheme::{Algorithm, EmptyBody, Grammar, HeaderFamily, Label, Part, Scheme, TimeUnit, Timestamp};
pub use timestamp::MAX_TOLERANCE_MS;

use alloc::format;

use crate::header::Headers;
use crate::provider::{Field, Provider};
use crate::vocabulary::{ConfigurationCode, Refusal};

/// The request to judge.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// All headers, as received.
    pub headers: Headers<'a>,
    /// The raw body, as received.
    pub body: &'a [u8],
    /// When it was received, ms since the Unix epoch.
    pub now_ms: u64,
    /// Overrides the provider's window, ms on both sides.
    pub tolerance_ms: Option<u64>,
}

/// The signature is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified<'a> {
    /// Name of the scheme, e.g. `stripe-v1`.
    pub scheme: &'a str,
    /// Which of the secrets matched, from 0.
    pub secret_index: usize,
    /// The signed time, ms since the epoch; `None` where the scheme signs none.
    pub signed_at_ms: Option<u64>,
    /// True where the scheme does not cover the body.
    pub weak: bool,
}

/// Checks a request against a provider of the table. `secrets`: texts as the user pasted them, all of them in use.
///
/// # Errors
/// A refusal that holds no secret, no signature and no body text.
pub fn verify<'a>(provider: &Provider, request: &Request<'_>, secrets: &[&[u8]]) -> Result<Verified<'a>, Refusal> {
    let scheme = provider.scheme.ok_or_else(|| nothing_to_verify(provider))?;
    let id_headers = provider.event_id.iter().filter_map(|field| {
        if let Field::Header(name) = field {
            Some(*name)
        } else {
            None
        }
    });
    let sender = verify::Sender {
        name: provider.display_name,
        scheme: *scheme,
        id_headers: id_headers.collect(),
    };
    verify::verify(&sender, request, secrets)
}

/// Checks a request against a scheme that the user described.
///
/// # Errors
/// As [`verify`], and `scheme_invalid` where the description contradicts itself.
pub fn verify_custom(
    custom: &CustomScheme,
    request: &Request<'_>,
    secrets: &[&[u8]],
) -> Result<Verified<'static>, Refusal> {
    let compiled = custom.compile()?;
    let id_headers = custom.id_header.as_deref().into_iter().collect();
    let sender = verify::Sender {
        name: "the sender",
        scheme: compiled.scheme(),
        id_headers,
    };
    verify::verify(&sender, request, secrets).map(|verified| Verified {
        scheme: custom::NAME,
        ..verified
    })
}

fn nothing_to_verify(provider: &Provider) -> Refusal {
    Refusal::misconfigured(
        ConfigurationCode::SchemeInvalid,
        format!(
            "The provider '{}' signs nothing that could be checked",
            provider.display_name
        ),
        "Choose the provider that sends the events, or turn off 'Verify Signature'.",
    )
}
