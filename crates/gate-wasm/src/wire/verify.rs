//! `VerifyRequest`, `VerifyAnswer`, and the answer of `checkSecret`.

use gate_core::header::Headers;
use gate_core::signature::{Request, Verified};
use gate_core::vocabulary::Refusal;
use serde::{Deserialize, Serialize};

use super::refusal::RefusalAnswer;
use super::scheme::CustomMember;
use super::{present, whole_ms};

/// A request to verify.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct VerifyRequest {
    pub(crate) provider: String,
    #[serde(default)]
    pub(crate) custom: CustomMember,
    headers: Vec<(String, String)>,
    now_ms: f64,
    #[serde(default, deserialize_with = "present")]
    tolerance_ms: Option<f64>,
}

impl VerifyRequest {
    /// The same for the core. A tolerance below 1 ms arrives there as 0 and is refused with words.
    pub(crate) fn as_core<'a>(&'a self, body: &'a [u8]) -> Request<'a> {
        let tolerance_ms = self.tolerance_ms.map(whole_ms);
        Request {
            headers: Headers(&self.headers),
            body,
            now_ms: whole_ms(self.now_ms),
            tolerance_ms,
        }
    }
}

/// The verdict.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum VerifyAnswer {
    /// The signature is right.
    #[serde(rename_all = "camelCase")]
    Verified {
        /// Always `verified`.
        r#type: &'static str,
        /// Name of the scheme.
        scheme: String,
        /// Which secret matched.
        secret_index: usize,
        /// The signed time, ms.
        signed_at_ms: Option<u64>,
        /// True where the body is not covered.
        weak: bool,
    },
    /// It is not, or nothing could be judged.
    Refused(RefusalAnswer),
}

impl From<Verified<'_>> for VerifyAnswer {
    fn from(verified: Verified<'_>) -> Self {
        let Verified {
            scheme,
            secret_index,
            signed_at_ms,
            weak,
        } = verified;
        Self::Verified {
            r#type: "verified",
            scheme: scheme.into(),
            secret_index,
            signed_at_ms,
            weak,
        }
    }
}

impl From<Refusal> for VerifyAnswer {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.into())
    }
}

/// What the form of a secret tells.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum SecretAnswer {
    /// Nothing is wrong with it.
    Ok {
        /// Always `ok`.
        r#type: &'static str,
        /// For the credential test.
        message: &'static str,
    },
    /// It cannot be right.
    Refused(RefusalAnswer),
}

impl SecretAnswer {
    pub(crate) const fn ok() -> Self {
        Self::Ok {
            r#type: "ok",
            message: "Looks right. It is checked against real requests when one arrives.",
        }
    }
}

impl From<Refusal> for SecretAnswer {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.into())
    }
}
