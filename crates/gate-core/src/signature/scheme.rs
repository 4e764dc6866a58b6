//! What a signature scheme is: data only. A provider is a [`Scheme`] in the table; a user's own is compiled into one.

use crate::encoding::Encoding;
use crate::secret::SecretForm;

/// How a provider signs a request.
#[derive(Clone, Copy, Debug)]
pub struct Scheme<'a> {
    /// Name for reports, e.g. `stripe-v1`.
    pub name: &'a str,
    /// The sets of headers that may carry it. One request uses one of them.
    pub families: &'a [HeaderFamily<'a>],
    /// How the signature header is read.
    pub grammar: Grammar<'a>,
    /// The signatures that count, by the label in front of them; any other label is ignored, never tried.
    pub labels: &'a [Label<'a>],
    /// How a signature is written.
    pub encoding: Encoding,
    /// What is signed, piece by piece.
    pub content: &'a [Part<'a>],
    /// The signed time, where there is one.
    pub timestamp: Option<Timestamp>,
    /// How the secret's text becomes the key.
    pub secret: SecretForm,
    /// Whether the provider signs requests without a body.
    pub empty_body: EmptyBody,
}

impl Scheme<'_> {
    /// True where the signature does not cover the body, so that a captured signature fits any other body.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        !self.content.contains(&Part::Body)
    }
}

/// Names of the headers that belong together, in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderFamily<'a> {
    /// Carries the signature or signatures.
    pub signature: &'a str,
    /// Carries the signed time; `None` where it is in the signature header, or nowhere.
    pub timestamp: Option<&'a str>,
    /// Carries the signed id.
    pub id: Option<&'a str>,
}

/// How the signature header is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar<'a> {
    /// One signature, directly behind its label: `sha256=<signature>`.
    Single,
    /// `name=value` pairs with the time among them: `t=1760000000,v1=<signature>,v1=<signature>`.
    Pairs {
        /// Between two pairs.
        separator: char,
        /// Name of the pair that holds the time.
        timestamp: &'a str,
    },
    /// Words parted by one space: `v1,<signature> v1a,<signature>`.
    Words,
}

/// A label that counts, and what stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label<'a> {
    /// The text in front of the signature, without the grammar's own `=` or `,`.
    pub text: &'a str,
    /// How the signature was made.
    pub algorithm: Algorithm,
}

/// How a signature is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// HMAC with SHA-1 (RFC 2202). Unbroken for this use, but only for schemes that know nothing better.
    HmacSha1,
    /// HMAC with SHA-256 (RFC 4231).
    HmacSha256,
    /// HMAC with SHA-384 (RFC 4231).
    HmacSha384,
    /// HMAC with SHA-512 (RFC 4231).
    HmacSha512,
    /// Ed25519 (RFC 8032).
    Ed25519,
}

impl Algorithm {
    /// Length of a signature, bytes.
    #[must_use]
    pub const fn signature_len(self) -> usize {
        match self {
            Self::HmacSha1 => 20,
            Self::HmacSha256 => 32,
            Self::HmacSha384 => 48,
            Self::HmacSha512 | Self::Ed25519 => 64,
        }
    }
}

/// A piece of the signed content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The raw body, byte for byte.
    Body,
    /// The time, as the text that was sent.
    Timestamp,
    /// The event id, as the text that was sent.
    Id,
    /// Fixed text.
    Text(&'a str),
}

/// The signed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// What one step of the number means.
    pub unit: TimeUnit,
    /// How far from the time of receipt it may be, on both sides, ms. The provider's own default.
    pub tolerance_ms: u64,
}

/// What one step of a timestamp means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds since the Unix epoch.
    Seconds,
    /// Milliseconds since the Unix epoch.
    Milliseconds,
}

impl TimeUnit {
    /// Milliseconds in one step.
    #[must_use]
    pub const fn as_ms(self) -> u64 {
        match self {
            Self::Seconds => 1000,
            Self::Milliseconds => 1,
        }
    }
}

/// Whether a request without a body can be a signed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyBody {
    /// Verified like any other. It names no event, so the gate will still not claim it.
    Verify,
    /// The provider's own SDK refuses it: the body was lost on the way.
    Refuse,
}
