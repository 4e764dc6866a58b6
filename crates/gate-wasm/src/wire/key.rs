//! `KeyRequest`, `KeyAnswer`.

use alloc::string::String;
use alloc::vec::Vec;

use gate_core::key::{Key, Source};
use gate_core::signature::CustomScheme;
use gate_core::vocabulary::{Refusal, RejectionCode};

use super::answer::Answer;
use super::request::{Object, Value, read};
use super::scheme;
use crate::calls::Malformed;

/// A delivery whose event key is wanted.
#[derive(Debug)]
pub(crate) struct KeyRequest {
    pub(crate) provider: String,
    pub(crate) custom: Option<CustomScheme>,
    pub(crate) scope: String,
    source: SourceWord,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) now_ms: u64,
}

#[derive(Debug)]
enum SourceWord {
    Provider,
    /// `None` where a part is not well-formed Unicode.
    Value(Option<Vec<String>>),
    BodyDigest(Vec<String>),
    TimeSlot(u64),
}

impl KeyRequest {
    pub(crate) fn read(text: &str) -> Result<Self, Malformed> {
        let mut request = read(text)?;
        let provider = request.text("provider");
        let read = Self {
            custom: scheme::custom(&mut request, &provider)?,
            provider,
            scope: request.text("scope"),
            source: source(&mut request)?,
            headers: request.headers(),
            now_ms: request.milliseconds("nowMs"),
        };
        request.end()?;
        Ok(read)
    }

    /// The source for the core. A value with half a surrogate pair (JavaScript allows that) is refused here: no database
    /// stores it, and replacing it would make two ids equal.
    pub(crate) fn source(&self) -> Result<Source<'_>, Refusal> {
        match &self.source {
            SourceWord::Provider => Ok(Source::Provider),
            SourceWord::Value(Some(parts)) => Ok(Source::Value(parts)),
            SourceWord::Value(None) => Err(Refusal::rejected(
                RejectionCode::EventIdInvalid,
                "The event ID is not well-formed text",
                "It holds half of a character that takes two units in JavaScript. Use a value that comes unchanged from the event.",
            )),
            SourceWord::BodyDigest(exclude) => Ok(Source::BodyDigest { exclude }),
            SourceWord::TimeSlot(slot_ms) => Ok(Source::TimeSlot { slot_ms: *slot_ms }),
        }
    }
}

fn source(request: &mut Object<'_>) -> Result<SourceWord, Malformed> {
    const WRONG: Malformed = Malformed { field: "source" };
    let mut object = request.object("source").ok_or(WRONG)?;
    let source = match object.text("type").as_str() {
        "provider" => SourceWord::Provider,
        "value" => SourceWord::Value(parts(object.list("parts"))?),
        "body_digest" => SourceWord::BodyDigest(object.texts("exclude")),
        "time_slot" => SourceWord::TimeSlot(object.milliseconds("slotMs")),
        _ => return Err(WRONG),
    };
    object.end()?;
    Ok(source)
}

/// `None` where one of them is not well-formed.
fn parts(list: Vec<Value<'_>>) -> Result<Option<Vec<String>>, Malformed> {
    let mut parts = Vec::new();
    for value in list {
        let Value::Text(text) = value else {
            return Err(Malformed { field: "parts" });
        };
        let Some(part) = text.decode() else { return Ok(None) };
        parts.push(part.into_owned());
    }
    Ok(Some(parts))
}

pub(crate) fn answer(key: &Key) -> String {
    Answer::of_type("key")
        .text("eventId", &key.event_id)
        .text("keySource", key.source.as_str())
        .flag("hashed", key.hashed)
        .flag("idSigned", key.id_signed)
        .nullable_text("eventType", key.event_type.as_deref())
        .text("bodyDigest", &key.body_digest)
        .text("idempotencyKey", &key.idempotency_key)
        .end()
}
