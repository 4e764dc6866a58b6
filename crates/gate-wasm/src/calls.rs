//! The exported functions, free of anything that only exists in WebAssembly.
//!
//! Each takes and gives JSON text in the shapes of `boundary.d.ts`. [`Malformed`] is a bug of the caller; everything that a
//! sender or a user can do wrong is an answer.

use alloc::string::String;

use gate_core::header::Headers;
use gate_core::vocabulary::{ConfigurationCode, Refusal};
use gate_core::{canonical, decision, key, provider, secret, signature};

use crate::wire;

/// The caller sent something that is not in the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The field that is missing, unknown or not what it should be.
    pub(crate) field: &'static str,
}

impl Malformed {
    /// An answer that the wrapper throws, for the caller's author. Quotes nothing of the request.
    #[must_use]
    pub fn answer(self) -> String {
        let message = [
            "malformed request: ",
            self.field,
            " is missing, unknown or not of the right kind",
        ]
        .concat();
        wire::answer::Answer::of_type("malformed")
            .text("message", &message)
            .end()
    }
}

/// The provider's key that stands for the user's own scheme.
pub(crate) const CUSTOM: &str = "custom";

/// `verify` of the contract.
///
/// # Errors
/// Where the request is not in the contract.
pub fn verify(request: &str, body: &[u8], secrets: &[&[u8]]) -> Result<String, Malformed> {
    let request = wire::verify::VerifyRequest::read(request)?;
    let asked = request.with_body(body);
    let verified = match &request.custom {
        Some(custom) => signature::verify_custom(custom, &asked, secrets),
        None => find(&request.provider).and_then(|provider| signature::verify(provider, &asked, secrets)),
    };
    Ok(answer(verified, wire::verify::answer))
}

/// `checkSecret` of the contract.
#[must_use]
pub fn check_secret(provider: &str, secret: &[u8]) -> String {
    let checked = if provider == CUSTOM {
        secret::Key::parse(secret, secret::SecretForm::Text, "the sender").map(|_| ())
    } else {
        find(provider).and_then(|provider| secret::check(provider, secret))
    };
    answer(checked, |()| wire::verify::secret_looks_right())
}

/// `deriveKey` of the contract.
///
/// # Errors
/// Where the request is not in the contract.
pub fn derive_key(request: &str, body: &[u8]) -> Result<String, Malformed> {
    let request = wire::key::KeyRequest::read(request)?;
    let sender = match &request.custom {
        Some(custom) => Ok(key::Sender::Custom {
            id_header: custom.id_header.as_deref(),
            id_signed: custom.id_signed(),
        }),
        None => find(&request.provider).map(key::Sender::Known),
    };
    let derived = sender.and_then(|sender| {
        let (headers, source) = (Headers(&request.headers), request.source()?);
        key::derive(
            &key::KeyRequest {
                sender,
                scope: &request.scope,
                source,
                headers,
                now_ms: request.now_ms,
            },
            body,
        )
    });
    Ok(answer(derived, wire::key::answer))
}

/// `idempotencyKey` of the contract.
#[must_use]
pub fn idempotency_key(scope: &str, provider: &str, event_id: &str) -> String {
    key::idempotency_key(scope, provider, event_id)
}

/// `canonicalize` of the contract, with the member `text` instead of `bytes`.
///
/// # Errors
/// Where the request is not in the contract.
pub fn canonicalize(request: &str, body: &[u8]) -> Result<String, Malformed> {
    let request = wire::canonical::CanonicalRequest::read(request)?;
    let canonical = canonical::canonicalize(request.mode, &request.exclude, body);
    Ok(answer(canonical, |bytes| wire::canonical::canonical(bytes)))
}

/// `canonicalDigest` of the contract.
///
/// # Errors
/// Where the request is not in the contract.
pub fn canonical_digest(request: &str, body: &[u8]) -> Result<String, Malformed> {
    let request = wire::canonical::CanonicalRequest::read(request)?;
    Ok(answer(
        canonical::digest(request.mode, &request.exclude, body),
        wire::canonical::digest,
    ))
}

/// `decide` of the contract.
///
/// # Errors
/// Where the request is not in the contract, also where a word is not in the vocabulary.
pub fn decide(request: &str) -> Result<String, Malformed> {
    let (event, policy) = wire::decide::request(request)?;
    Ok(wire::decide::answer(&decision::decide(&event, &policy)))
}

/// `newToken` of the contract; `None` where the host has no source of randomness.
#[must_use]
pub fn new_token() -> Option<String> {
    let mut token = [0; 16];
    getrandom::fill(&mut token).ok()?;
    Some(gate_core::encoding::to_hex(&token))
}

/// `providers` of the contract.
#[must_use]
pub fn providers() -> String {
    wire::answer::list(provider::PROVIDERS.iter().map(wire::provider::answer))
}

fn answer<T>(result: Result<T, Refusal>, write: impl FnOnce(&T) -> String) -> String {
    result.map_or_else(|refusal| wire::refusal::answer(&refusal), |value| write(&value))
}

fn find(key: &str) -> Result<&'static provider::Provider, Refusal> {
    provider::Provider::find(key).ok_or_else(|| {
        Refusal::misconfigured(
            ConfigurationCode::ProviderUnknown,
            "This provider is not known",
            "Choose one from the list, or 'Custom (HMAC)' and describe how the sender signs.",
        )
    })
}
