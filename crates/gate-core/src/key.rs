//! Which event is it? The third field of the event key, from where the provider, the user or the body says.

use crate::header::Headers;
use crate::provider::Provider;
pub use crate::vocabulary::KeySource;
use crate::vocabulary::Refusal;

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
    /// A digest of the body. `exclude`: RFC 6901 JSON pointers to what changes between deliveries of one event.
    BodyDigest {
        /// What is left out.
        exclude: &'a [String],
    },
    /// One id per slot of wall-clock time, counted from the Unix epoch.
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
pub fn derive(request: &KeyRequest<'_>, _body: &[u8]) -> Result<Key, Refusal> {
    let _ = request;
    Ok(Key {
        event_id: String::new(),
        source: KeySource::Provider,
        hashed: false,
        id_signed: false,
        event_type: None,
        body_digest: String::new(),
        idempotency_key: String::new(),
    })
}
