//! A signing secret: from the text that the user pasted to the key of a MAC, or a refusal that says what is wrong.
//!
//! Refused before any MAC is computed, since a MAC under an empty or well-known key can be made by anyone.

mod placeholder;

use alloc::format;
use alloc::vec::Vec;

use ed25519_dalek::VerifyingKey;

use crate::encoding::{from_base64, from_hex};
use crate::provider::Provider;
use crate::signature::Algorithm;
use crate::vocabulary::{ConfigurationCode, Refusal};

/// How the secret's text becomes the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretForm {
    /// The UTF-8 bytes of the text, whatever it looks like.
    Text,
    /// Lower-case or upper-case hexadecimal, decoded.
    Hex,
    /// Standard Base64, decoded; padding may be missing.
    Base64,
    /// `whsec_` and Base64 (a shared key), or `whpk_` and Base64 (an Ed25519 public key). The prefix may be missing, and
    /// `v1,` may stand in front, as Supabase shows it.
    StandardWebhooks,
}

/// A key ready for use.
#[derive(Clone, PartialEq, Eq)]
pub enum Key {
    /// Shared with the provider, for an HMAC; never empty.
    Shared(Vec<u8>),
    /// The provider's public key.
    Public(VerifyingKey),
}

impl Key {
    /// Reads a secret as the user pasted it. `sender`: the provider's name for people, used in the help.
    ///
    /// # Errors
    /// `misconfigured`, with a text that never contains the secret.
    pub fn parse(text: &[u8], form: SecretForm, sender: &str) -> Result<Self, Refusal> {
        read(text, form).map_err(|problem| problem.refusal(sender))
    }

    /// True where a signature of this algorithm can be checked with this key. A public key is never an HMAC key: everybody
    /// knows it.
    #[must_use]
    pub const fn fits(&self, algorithm: Algorithm) -> bool {
        matches!((self, algorithm), (Self::Public(_), Algorithm::Ed25519))
            || (matches!(self, Self::Shared(_)) && !matches!(algorithm, Algorithm::Ed25519))
    }
}

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Key([hidden])")
    }
}

/// Checks the form of a secret, for a credential test. No request is at hand, so no more can be known.
///
/// # Errors
/// `misconfigured`, also where the text is clearly another kind of credential of the same provider.
pub fn check(provider: &Provider, text: &[u8]) -> Result<(), Refusal> {
    let Some(scheme) = provider.scheme else { return Ok(()) };
    Key::parse(text, scheme.secret, provider.display_name)?;
    let other = provider
        .not_secrets
        .iter()
        .find(|(beginning, _)| text.starts_with(beginning.as_bytes()));
    match other {
        None => Ok(()),
        Some((_, what)) => Err(Problem::OtherCredential(what).refusal(provider.display_name)),
    }
}

/// No secret at all.
pub(crate) fn missing(sender: &str) -> Refusal {
    Problem::Missing.refusal(sender)
}

/// What is wrong with a secret.
#[derive(Clone, Copy, Debug)]
enum Problem {
    Missing,
    Placeholder,
    /// The end of a sentence that begins with "The signing secret".
    Malformed(&'static str),
    /// What it is instead.
    OtherCredential(&'static str),
}

impl Problem {
    fn refusal(self, sender: &str) -> Refusal {
        let (code, message) = match self {
            Self::Missing => (ConfigurationCode::SecretMissing, "No signing secret is set".into()),
            Self::Placeholder => (
                ConfigurationCode::SecretPlaceholder,
                "The signing secret is a placeholder or an expression that was not evaluated".into(),
            ),
            Self::Malformed(what) => (ConfigurationCode::SecretMalformed, format!("The signing secret {what}")),
            Self::OtherCredential(what) => (
                ConfigurationCode::SecretMalformed,
                format!("This is {what}, not a signing secret"),
            ),
        };
        let help = format!(
            "Open the credential and paste the signing secret from {sender}'s webhook page, unchanged and as fixed text."
        );
        Refusal::misconfigured(code, message, help)
    }
}

fn read(text: &[u8], form: SecretForm) -> Result<Key, Problem> {
    let text = core::str::from_utf8(text).map_err(|_| Problem::Malformed("is not text"))?;
    let core = text.trim_matches(is_blank);
    if core.is_empty() {
        return Err(Problem::Missing);
    }
    if placeholder::is_placeholder(core) {
        return Err(Problem::Placeholder);
    }
    if core.len() != text.len() {
        return Err(Problem::Malformed("has a space or a line break at its start or end"));
    }
    if text.chars().any(char::is_control) {
        return Err(Problem::Malformed("holds a line break or another control character"));
    }
    match form {
        SecretForm::Text => Ok(Key::Shared(text.as_bytes().to_vec())),
        SecretForm::Hex => shared(from_hex(&text.to_ascii_lowercase()), "is not hexadecimal digits"),
        SecretForm::Base64 => shared(from_base64(text), "is not Base64"),
        SecretForm::StandardWebhooks => standard_webhooks(text),
    }
}

fn standard_webhooks(text: &str) -> Result<Key, Problem> {
    let text = text.strip_prefix("v1,").unwrap_or(text);
    if text.starts_with("whsk_") {
        return Err(Problem::Malformed(
            "is a private signing key, which only the provider may have",
        ));
    }
    if let Some(text) = text.strip_prefix("whpk_") {
        let key = from_base64(text).and_then(|bytes| VerifyingKey::from_bytes(bytes.as_slice().try_into().ok()?).ok());
        // A weak key verifies signatures that nobody made.
        let key = key.filter(|key| !key.is_weak()).map(Key::Public);
        return key.ok_or(Problem::Malformed("is not an Ed25519 public key behind 'whpk_'"));
    }
    shared(
        from_base64(text.strip_prefix("whsec_").unwrap_or(text)),
        "is not Base64 behind 'whsec_'",
    )
}

fn shared(bytes: Option<Vec<u8>>, what: &'static str) -> Result<Key, Problem> {
    bytes
        .filter(|bytes| !bytes.is_empty())
        .map(Key::Shared)
        .ok_or(Problem::Malformed(what))
}

/// White space, and the invisible characters that copying from a web page brings along.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
