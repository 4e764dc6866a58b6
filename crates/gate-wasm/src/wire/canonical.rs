//! The requests of `canonicalize` and `canonicalDigest`, and `DigestAnswer`.

use gate_core::canonical::{Digest, Mode};
use gate_core::vocabulary::Refusal;
use serde::{Deserialize, Serialize};

use super::refusal::RefusalAnswer;

/// How to write the JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanonicalRequest {
    mode: ModeWord,
    pub(crate) exclude: Vec<String>,
}

impl CanonicalRequest {
    pub(crate) const fn mode(&self) -> Mode {
        self.mode.0
    }
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct ModeWord(Mode);

impl TryFrom<String> for ModeWord {
    type Error = &'static str;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        Mode::parse(&word).map(Self).ok_or("unknown mode")
    }
}

/// A digest, or none.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum DigestAnswer {
    /// There is one.
    Digest {
        /// Always `digest`.
        r#type: &'static str,
        /// `sha256:` and hex.
        digest: String,
        /// What was hashed.
        form: &'static str,
    },
    /// There is none.
    Refused(RefusalAnswer),
}

impl From<Digest> for DigestAnswer {
    fn from(digest: Digest) -> Self {
        Self::Digest {
            r#type: "digest",
            digest: digest.text,
            form: digest.form.as_str(),
        }
    }
}

impl From<Refusal> for DigestAnswer {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.into())
    }
}
