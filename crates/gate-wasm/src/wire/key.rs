//! `KeyRequest`, `KeyAnswer`.

use gate_core::key::{Key, Source};
use gate_core::vocabulary::{Refusal, RejectionCode};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize};

use super::refusal::RefusalAnswer;
use super::scheme::CustomMember;
use super::whole_ms;

/// A delivery whose event key is wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct KeyRequest {
    pub(crate) provider: String,
    #[serde(default)]
    pub(crate) custom: CustomMember,
    pub(crate) scope: String,
    pub(crate) source: SourceWord,
    pub(crate) headers: Vec<(String, String)>,
    now_ms: f64,
}

impl KeyRequest {
    pub(crate) const fn now_ms(&self) -> u64 {
        whole_ms(self.now_ms)
    }
}

/// Where the id comes from.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum SourceWord {
    /// The provider's place.
    Provider {},
    /// Computed by the user.
    Value {
        /// One or more parts.
        parts: Parts,
    },
    /// A digest of the body.
    BodyDigest {
        /// JSON pointers.
        exclude: Vec<String>,
    },
    /// A slot of time.
    TimeSlot {
        /// Length, ms.
        slot_ms: f64,
    },
}

impl SourceWord {
    pub(crate) fn as_core(&self) -> Result<Source<'_>, Refusal> {
        match self {
            Self::Provider {} => Ok(Source::Provider),
            Self::Value {
                parts: Parts(Some(parts)),
            } => Ok(Source::Value(parts)),
            Self::Value { parts: Parts(None) } => Err(not_text()),
            Self::BodyDigest { exclude } => Ok(Source::BodyDigest { exclude }),
            Self::TimeSlot { slot_ms } => Ok(Source::TimeSlot {
                slot_ms: whole_ms(*slot_ms),
            }),
        }
    }
}

/// Texts that came out of an expression. `None` where one is not well-formed Unicode (JavaScript allows half a surrogate
/// pair): no database stores that, and replacing it would make two ids equal.
#[derive(Debug)]
pub struct Parts(Option<Vec<String>>);

impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let parts: Vec<Text> = Vec::deserialize(deserializer)?;
        Ok(Self(parts.into_iter().map(|Text(part)| part).collect()))
    }
}

struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl Visitor<'_> for TextVisitor {
            type Value = Text;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E>(self, text: &str) -> Result<Text, E> {
                Ok(Text(Some(text.to_owned())))
            }

            /// `serde_json` gives half a surrogate pair as bytes that are not UTF-8.
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Text, E> {
                Ok(Text(String::from_utf8(bytes.to_vec()).ok()))
            }
        }

        deserializer.deserialize_bytes(TextVisitor)
    }
}

fn not_text() -> Refusal {
    Refusal::rejected(
        RejectionCode::EventIdInvalid,
        "The event ID is not well-formed text",
        "It holds half of a character that takes two units in JavaScript. Use a value that comes unchanged from the event.",
    )
}

/// The event key.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum KeyAnswer {
    /// There is one.
    #[serde(rename_all = "camelCase")]
    Key {
        /// Always `key`.
        r#type: &'static str,
        /// Third field of the event key.
        event_id: String,
        /// Where it came from.
        key_source: &'static str,
        /// True when the id stands hashed.
        hashed: bool,
        /// True when the signature covers the id.
        id_signed: bool,
        /// The event type, if any.
        event_type: Option<String>,
        /// Digest of the raw body.
        body_digest: String,
        /// For calls downstream.
        idempotency_key: String,
    },
    /// There is none.
    Refused(RefusalAnswer),
}

impl From<Key> for KeyAnswer {
    fn from(key: Key) -> Self {
        let Key {
            event_id,
            source,
            hashed,
            id_signed,
            event_type,
            body_digest,
            idempotency_key,
        } = key;
        let key_source = source.as_str();
        Self::Key {
            r#type: "key",
            event_id,
            key_source,
            hashed,
            id_signed,
            event_type,
            body_digest,
            idempotency_key,
        }
    }
}

impl From<Refusal> for KeyAnswer {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.into())
    }
}
