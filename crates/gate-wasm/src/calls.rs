//! The exported functions, free of anything that only exists in WebAssembly.
//!
//! Each takes and gives JSON text in the shapes of `boundary.d.ts`. [`Malformed`] is a bug of the caller; everything that a
//! sender or a user can do wrong is an answer.

use gate_core::vocabulary::{ConfigurationCode, Refusal};
use gate_core::{canonical, decision, key, provider, secret, signature};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wire::canonical::{CanonicalRequest, DigestAnswer};
use crate::wire::decide::{DecideRequest, Decision};
use crate::wire::key::{KeyAnswer, KeyRequest};
use crate::wire::provider::ProviderInfo;
use crate::wire::refusal::RefusalAnswer;
use crate::wire::verify::{SecretAnswer, VerifyAnswer, VerifyRequest};

/// The caller sent something that is not in the contract.
#[derive(Debug)]
pub struct Malformed(pub String);

/// The provider's key that stands for the user's own scheme.
const CUSTOM: &str = "custom";

/// `verify` of the contract.
///
/// # Errors
/// Where the request is not in the contract.
pub fn verify(request: &str, body: &[u8], secrets: &[&[u8]]) -> Result<String, Malformed> {
    let request: VerifyRequest = read(request)?;
    let asked = request.as_core(body);
    let verified = match request.custom.scheme_for(&request.provider)? {
        Some(custom) => signature::verify_custom(&custom, &asked, secrets),
        None => find(&request.provider).and_then(|provider| signature::verify(provider, &asked, secrets)),
    };
    Ok(write(&verified.map_or_else(VerifyAnswer::from, VerifyAnswer::from)))
}

/// `checkSecret` of the contract.
#[must_use]
pub fn check_secret(provider: &str, secret: &[u8]) -> String {
    let checked = if provider == CUSTOM {
        secret::Key::parse(secret, secret::SecretForm::Text, "the sender").map(|_| ())
    } else {
        find(provider).and_then(|provider| secret::check(provider, secret))
    };
    write(&checked.map_or_else(SecretAnswer::from, |()| SecretAnswer::ok()))
}

/// `deriveKey` of the contract.
///
/// # Errors
/// Where the request is not in the contract.
pub fn derive_key(request: &str, body: &[u8]) -> Result<String, Malformed> {
    let request: KeyRequest = read(request)?;
    let custom = request.custom.scheme_for(&request.provider)?;
    let sender = match &custom {
        Some(custom) => {
            let id_header = custom.id_header.as_deref();
            Ok(key::Sender::Custom {
                id_header,
                id_signed: custom.id_signed(),
            })
        }
        None => find(&request.provider).map(key::Sender::Known),
    };
    let source = request.source.as_core();
    let derived = sender.and_then(|sender| {
        let headers = gate_core::header::Headers(&request.headers);
        let now_ms = request.now_ms();
        key::derive(
            &key::KeyRequest {
                sender,
                scope: &request.scope,
                source: source?,
                headers,
                now_ms,
            },
            body,
        )
    });
    Ok(write(&derived.map_or_else(KeyAnswer::from, KeyAnswer::from)))
}

/// `canonicalize` of the contract: the bytes, or a refusal as JSON text.
///
/// # Errors
/// Where the request is not in the contract.
pub fn canonicalize(request: &str, body: &[u8]) -> Result<Result<Vec<u8>, String>, Malformed> {
    let request: CanonicalRequest = read(request)?;
    let canonical = canonical::canonicalize(request.mode(), &request.exclude, body);
    Ok(canonical.map_err(|refusal| write(&RefusalAnswer::from(refusal))))
}

/// `canonicalDigest` of the contract.
///
/// # Errors
/// Where the request is not in the contract.
pub fn canonical_digest(request: &str, body: &[u8]) -> Result<String, Malformed> {
    let request: CanonicalRequest = read(request)?;
    let digest = canonical::digest(request.mode(), &request.exclude, body);
    Ok(write(&digest.map_or_else(DigestAnswer::from, DigestAnswer::from)))
}

/// `decide` of the contract.
///
/// # Errors
/// Where the request is not in the contract, also where a word is not in the vocabulary.
pub fn decide(request: &str) -> Result<String, Malformed> {
    let (event, policy) = read::<DecideRequest>(request)?.as_core().map_err(Malformed)?;
    Ok(write(&Decision::from(decision::decide(&event, &policy))))
}

/// `newToken` of the contract.
///
/// # Errors
/// Where the host has no source of randomness.
pub fn new_token() -> Result<String, Malformed> {
    let mut token = [0; 16];
    getrandom::fill(&mut token).map_err(|error| Malformed(error.to_string()))?;
    Ok(gate_core::encoding::to_hex(&token))
}

/// `providers` of the contract.
#[must_use]
pub fn providers() -> String {
    write(&provider::PROVIDERS.iter().map(ProviderInfo::from).collect::<Vec<_>>())
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

fn read<T: DeserializeOwned>(request: &str) -> Result<T, Malformed> {
    serde_json::from_str(request).map_err(|error| Malformed(format!("malformed request: {error}")))
}

/// Answers hold nothing that JSON cannot carry, so this cannot fail; if it did, the caller would see a malformed answer.
fn write<T: Serialize>(answer: &T) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}
