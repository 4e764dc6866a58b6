//! Which event is it? The third field of the event key, from where the provider, the user or the body says.
//!
//! An id is taken as received: no trimming, no folding of case, no Unicode normalisation. Two ids that differ never become
//! one key; whatever would have to be guessed is refused.

mod form;
mod id;
mod values;

use alloc::format;
use alloc::string::String;

use sha2::{Digest as _, Sha256};

use crate::canonical::{self, Form, Mode};
use crate::encoding;
use crate::header::Headers;
use crate::provider::Provider;
pub use crate::vocabulary::KeySource;
use crate::vocabulary::{ConfigurationCode, Refusal, RejectionCode};
use id::EventId;
use values::Values;

/// Longest event id or scope that is stored as it is, bytes of UTF-8. Longer ids are hashed.
pub const MAX_ID_BYTES: usize = 512;

/// A delivery whose event key is wanted.
#[derive(Clone, Copy, Debug)]
pub struct KeyRequest<'a> {
    /// Who sends it.
    pub sender: Sender<'a>,
    /// Who consumes it, e.g. `workflow:Ab3`. 1 to 512 bytes without NUL.
    pub scope: &'a str,
    /// Where the id comes from.
    pub source: Source<'a>,
    /// All headers, as received.
    pub headers: Headers<'a>,
    /// When it was received, ms since the Unix epoch.
    pub now_ms: u64,
}

/// Who sends the event.
#[derive(Clone, Copy, Debug)]
pub enum Sender<'a> {
    /// A row of the provider table.
    Known(&'a Provider),
    /// Somebody whose scheme the user described.
    Custom {
        /// The header with the event id, in any case; `None` where there is none.
        id_header: Option<&'a str>,
        /// True where the signature covers that header.
        id_signed: bool,
    },
}

/// Where the id comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// From where the provider puts it.
    Provider,
    /// A value the user computed. Several parts make one composite id.
    Value(&'a [String]),
    /// A digest of the body.
    BodyDigest {
        /// JSON pointers to what changes between deliveries of one event, see [`canonical::canonicalize`].
        exclude: &'a [String],
    },
    /// One id per slot of wall-clock time, counted from the Unix epoch in UTC.
    TimeSlot {
        /// Length of a slot, ms: a second to a day.
        slot_ms: u64,
    },
}

/// An event key, and what else is known of the event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// 1 to 512 bytes: the id as received, or a digest.
    pub event_id: String,
    /// Where it came from.
    pub source: KeySource,
    /// True when the id was too long or looked like one of ours, and stands hashed.
    pub hashed: bool,
    /// True when the provider's signature covers the id.
    pub id_signed: bool,
    /// e.g. `invoice.paid`; `None` where the provider names none.
    pub event_type: Option<String>,
    /// `sha256:` and 64 hex digits over the raw body.
    pub body_digest: String,
    /// `n8n-` and 40 hex digits: the same for every delivery of the event.
    pub idempotency_key: String,
}

/// Reads or computes the event key. Does not verify.
///
/// # Errors
/// A refusal that holds no body text.
pub fn derive(request: &KeyRequest<'_>, body: &[u8]) -> Result<Key, Refusal> {
    check_scope(request.scope)?;
    let values = Values::read(request.sender, request.headers, body);
    let Origin { id, source, id_signed } = match request.source {
        Source::Provider => from_provider(request.sender, &values, body)?,
        Source::Value(parts) => Origin::unsigned(EventId::from_parts(parts)?, KeySource::Value),
        Source::BodyDigest { exclude } => from_body(request.sender, exclude, body)?,
        Source::TimeSlot { slot_ms } => Origin::unsigned(time_slot(slot_ms, request.now_ms)?, KeySource::TimeSlot),
    };
    Ok(Key {
        idempotency_key: idempotency_key(request.scope, request.sender.key(), &id.text),
        event_id: id.text,
        source,
        hashed: id.hashed,
        id_signed,
        event_type: values.event_type(),
        body_digest: format!("sha256:{}", encoding::to_hex(&Sha256::digest(body))),
    })
}

/// The type of the event where the provider names one, also for a delivery that has no id, such as a handshake.
#[must_use]
pub fn event_type(sender: Sender<'_>, headers: Headers<'_>, body: &[u8]) -> Option<String> {
    Values::read(sender, headers, body).event_type()
}

impl Sender<'_> {
    /// Second field of the event key.
    const fn key(&self) -> &str {
        match self {
            Self::Known(provider) => provider.key,
            Self::Custom { .. } => "custom",
        }
    }
}

/// An id, and how much it can be relied on.
struct Origin {
    id: EventId,
    source: KeySource,
    id_signed: bool,
}

impl Origin {
    const fn unsigned(id: EventId, source: KeySource) -> Self {
        Self {
            id,
            source,
            id_signed: false,
        }
    }
}

fn from_provider(sender: Sender<'_>, values: &Values<'_>, body: &[u8]) -> Result<Origin, Refusal> {
    let (has_place, id_signed) = match sender {
        Sender::Known(provider) => (!provider.event_id.is_empty(), provider.id_signed),
        Sender::Custom { id_header, id_signed } => (id_header.is_some(), id_signed),
    };
    if !has_place {
        return Err(Refusal::misconfigured(
            ConfigurationCode::KeySourceInvalid,
            "This provider names no event id",
            "Set 'Event ID From' to an expression, the body or a time slot.",
        ));
    }
    if body.is_empty() {
        return Err(body_empty());
    }
    Ok(Origin {
        id: EventId::received(&values.event_id()?)?,
        source: KeySource::Provider,
        id_signed,
    })
}

fn from_body(sender: Sender<'_>, exclude: &[String], body: &[u8]) -> Result<Origin, Refusal> {
    let (hex, form) = canonical::digest_hex(Mode::GateExact1, exclude, body)?;
    if body.is_empty() {
        return Err(body_empty());
    }
    let (id, source) = match form {
        Form::Canonical(_) => (EventId::canonical_digest(&hex), KeySource::CanonicalJson),
        Form::Raw => (EventId::raw_digest(&hex), KeySource::RawBody),
    };
    let id_signed = match sender {
        Sender::Known(provider) => provider.scheme.is_some_and(|scheme| !scheme.is_weak()),
        Sender::Custom { .. } => true,
    };
    Ok(Origin { id, source, id_signed })
}

fn time_slot(slot_ms: u64, now_ms: u64) -> Result<EventId, Refusal> {
    const SECOND_MS: u64 = 1_000;
    const DAY_MS: u64 = 86_400_000;
    match now_ms.checked_div(slot_ms) {
        Some(slot) if (SECOND_MS..=DAY_MS).contains(&slot_ms) => Ok(EventId::slot(slot_ms, slot)),
        _ => Err(Refusal::misconfigured(
            ConfigurationCode::SlotInvalid,
            "The time slot is not between a second and a day",
            "Choose a slot as long as the schedule's interval.",
        )),
    }
}

fn check_scope(scope: &str) -> Result<(), Refusal> {
    if (1..=MAX_ID_BYTES).contains(&scope.len()) && !scope.contains('\0') {
        return Ok(());
    }
    Err(Refusal::misconfigured(
        ConfigurationCode::ScopeInvalid,
        "The scope is empty, longer than 512 bytes or holds a NUL character",
        "Give the scope a short name that stays the same, for example the name of the workflow.",
    ))
}

fn body_empty() -> Refusal {
    Refusal::rejected(
        RejectionCode::BodyEmpty,
        "The body of the request is empty",
        "An empty request names no event. Check that the sender posts a body and that nothing on the way drops it.",
    )
}

/// A name for the event that APIs downstream can be given: `n8n-` and 40 hex digits. Every field has its length in front, so
/// that `("ab", "c")` and `("a", "bc")` differ.
#[must_use]
pub fn idempotency_key(scope: &str, provider: &str, event_id: &str) -> String {
    const DOMAIN: &[u8] = b"n8n-nodes-idempotency-gate idempotency key 1\n";
    const HEX_DIGITS: usize = 40;
    let mut hash = Sha256::new_with_prefix(DOMAIN);
    for field in [scope, provider, event_id] {
        hash.update(u64::try_from(field.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(field);
    }
    let hex = encoding::to_hex(&hash.finalize());
    format!("n8n-{}", hex.get(..HEX_DIGITS).unwrap_or_default())
}

#[cfg(test)]
mod tests;
