//! The few values of a delivery that say which event it is, read once.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Sender;
use super::form::{self, FormValue};
use crate::header::{HeaderFault, Headers};
use crate::json::{self, Found, JsonError};
use crate::provider::{Field, Provider};
use crate::vocabulary::{Refusal, RejectionCode};

/// Longest event type, bytes of UTF-8. It is for people and metrics; a longer one is left out.
const MAX_TYPE_BYTES: usize = 255;

/// Where the values of one delivery are.
pub(super) struct Values<'a> {
    sender: Sender<'a>,
    headers: Headers<'a>,
    text: Result<&'a str, JsonError>,
    /// What the body holds at the provider's paths, if it is JSON.
    members: Result<Vec<(&'a [&'a str], Found<'a>)>, JsonError>,
}

/// What a place holds.
enum Reading<'a> {
    Absent,
    Text(Cow<'a, str>),
    /// Something that cannot be an id, in words that follow "The event id ".
    Unusable(&'static str),
}

impl<'a> Values<'a> {
    pub(super) fn read(sender: Sender<'a>, headers: Headers<'a>, body: &'a [u8]) -> Self {
        let text = json::utf8(body);
        let paths = match sender {
            Sender::Known(provider) => body_paths(provider),
            Sender::Custom { .. } => Vec::new(),
        };
        let members = match text {
            Ok(_) if paths.is_empty() => Ok(Vec::new()),
            Ok(text) => json::extract(text, &paths).map(|found| paths.into_iter().zip(found).collect()),
            Err(error) => Err(error),
        };
        Self {
            sender,
            headers,
            text,
            members,
        }
    }

    /// The event id, from the first place that holds anything.
    pub(super) fn event_id(&self) -> Result<Cow<'a, str>, Refusal> {
        let provider = match self.sender {
            Sender::Known(provider) => provider,
            Sender::Custom { id_header, .. } => {
                let reading = id_header.map_or(Reading::Absent, |name| self.header(name));
                return reading.into_id()?.ok_or_else(missing);
            }
        };
        // Their bodies are JSON or forms. One that is not even text was damaged on the way, whatever its headers say.
        self.text.map_err(JsonError::refusal)?;
        for field in provider.event_id {
            if let Some(id) = self.field(*field).into_id()? {
                return Ok(id);
            }
        }
        match &self.members {
            Err(error) if provider.event_id.iter().any(|field| matches!(field, Field::Body(_))) => Err(error.refusal()),
            _ => Err(missing()),
        }
    }

    /// The event type: the parts that are there, joined with a point.
    pub(super) fn event_type(&self) -> Option<String> {
        let Sender::Known(provider) = self.sender else {
            return None;
        };
        let mut joined = String::new();
        for places in provider.event_type {
            let part = places.iter().find_map(|field| match self.field(*field) {
                Reading::Text(text) if !text.is_empty() && !text.contains('\0') => Some(text),
                _ => None,
            });
            if let Some(part) = part {
                if !joined.is_empty() {
                    joined.push('.');
                }
                joined.push_str(&part);
            }
        }
        (1..=MAX_TYPE_BYTES).contains(&joined.len()).then_some(joined)
    }

    fn field(&self, field: Field) -> Reading<'a> {
        match field {
            Field::Header(name) => self.header(name),
            Field::Body(path) => self.member(path),
            Field::Form(name) => self.form_field(name),
        }
    }

    fn header(&self, name: &str) -> Reading<'a> {
        match self.headers.single_id(name) {
            Ok(None) => Reading::Absent,
            Ok(Some(value)) => Reading::Text(Cow::Borrowed(value)),
            Err(HeaderFault::Repeated) => Reading::Unusable("was sent more than once, or holds a comma"),
            Err(HeaderFault::ControlCharacter) => Reading::Unusable("holds a control character"),
        }
    }

    fn member(&self, path: &[&str]) -> Reading<'a> {
        let members = self.members.as_deref().unwrap_or_default();
        let found = members
            .iter()
            .find(|(known, _)| *known == path)
            .map(|(_, found)| *found);
        match found.unwrap_or_default() {
            Found::Absent | Found::Null => Reading::Absent,
            Found::Repeated => Reading::Unusable("stands twice in the body"),
            Found::String(text) => match text.decode() {
                Some(text) => Reading::Text(text),
                None => Reading::Unusable("holds half of a surrogate pair"),
            },
            // Kept as digits: a double would merge neighbours beyond 2^53.
            Found::Number(literal) if !literal.contains(['.', 'e', 'E']) => Reading::Text(Cow::Borrowed(literal)),
            Found::Number(_) => Reading::Unusable("is a number with a fraction or an exponent"),
            Found::Other => Reading::Unusable("is neither a text nor a number"),
        }
    }

    fn form_field(&self, name: &str) -> Reading<'a> {
        let (Ok(text), Err(_)) = (self.text, &self.members) else {
            return Reading::Absent;
        };
        match form::field(text, name) {
            FormValue::Absent => Reading::Absent,
            FormValue::Text(text) => Reading::Text(Cow::Owned(text)),
            FormValue::Repeated => Reading::Unusable("stands twice in the body"),
            FormValue::NotText => Reading::Unusable("is not UTF-8"),
        }
    }
}

impl<'a> Reading<'a> {
    /// `Ok(None)` where there is nothing, so that the next place may be asked.
    fn into_id(self) -> Result<Option<Cow<'a, str>>, Refusal> {
        match self {
            Self::Absent => Ok(None),
            Self::Text(text) => Ok(Some(text)),
            Self::Unusable(why) => Err(Refusal::rejected(
                RejectionCode::EventIdInvalid,
                format!("The event id {why}"),
                "An id that can be read in two ways, or not at all, cannot tell events apart. Check that the right provider is chosen.",
            )),
        }
    }
}

fn body_paths(provider: &Provider) -> Vec<&[&str]> {
    let mut paths = Vec::new();
    for fields in [provider.event_id].iter().chain(provider.event_type) {
        for field in *fields {
            if let Field::Body(path) = field {
                paths.push(*path);
            }
        }
    }
    paths
}

fn missing() -> Refusal {
    Refusal::rejected(
        RejectionCode::EventIdMissing,
        "There is no event id where this provider puts it",
        "Handshakes and test pings have none: answer them on this branch. If every event is refused, check that the right provider is chosen.",
    )
}
