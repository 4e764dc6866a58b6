//! The text of an event id. Ids of different origin cannot meet: whatever arrives looking like one that is made here is
//! hashed.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};

use sha2::{Digest as _, Sha256};

use super::MAX_ID_BYTES;
use crate::encoding;
use crate::vocabulary::{ConfigurationCode, Refusal, RejectionCode};

/// Third field of an event key.
pub(super) struct EventId {
    pub(super) text: String,
    pub(super) hashed: bool,
}

const RECEIVED_DIGEST: &str = "sha256:";
const COMPOSITE: &str = "parts:";
const COMPOSITE_DIGEST: &str = "parts-sha256:";
const CANONICAL_DIGEST: &str = "jcs-sha256:";
const RAW_DIGEST: &str = "raw-sha256:";
const SLOT: &str = "slot:";

/// Every beginning that stands for something made here.
const RESERVED: [&str; 6] = [
    RECEIVED_DIGEST,
    COMPOSITE,
    COMPOSITE_DIGEST,
    CANONICAL_DIGEST,
    RAW_DIGEST,
    SLOT,
];

impl EventId {
    /// An id that came from outside, as it is if it can be.
    pub(super) fn received(text: &str) -> Result<Self, Refusal> {
        check(text)?;
        let reserved = RESERVED.iter().any(|prefix| text.starts_with(prefix));
        if reserved || text.len() > MAX_ID_BYTES {
            return Ok(Self::hash(RECEIVED_DIGEST, text));
        }
        Ok(Self::whole(text.to_owned()))
    }

    /// A computed id. One part is an id like any other. Several are joined with the length of each in front, so that
    /// `("ab", "c")` and `("a", "bc")` differ. Every part has to be there: an expression that found nothing would give all
    /// events one key.
    pub(super) fn from_parts(parts: &[String]) -> Result<Self, Refusal> {
        match parts {
            [] => Err(Refusal::misconfigured(
                ConfigurationCode::KeySourceInvalid,
                "The event id has no parts",
                "Fill in 'Event ID' with an expression that names the event.",
            )),
            [whole] => Self::received(whole),
            parts => {
                parts.iter().try_for_each(|part| check(part))?;
                let mut text = COMPOSITE.to_owned();
                for part in parts {
                    text.extend([part.len().to_string().as_str(), ":", part]);
                }
                if text.len() > MAX_ID_BYTES {
                    return Ok(Self::hash(COMPOSITE_DIGEST, &text));
                }
                Ok(Self::whole(text))
            }
        }
    }

    /// The digest of a canonical form.
    pub(super) fn canonical_digest(hex: &str) -> Self {
        Self::whole(format!("{CANONICAL_DIGEST}{hex}"))
    }

    /// The digest of raw bytes.
    pub(super) fn raw_digest(hex: &str) -> Self {
        Self::whole(format!("{RAW_DIGEST}{hex}"))
    }

    /// A slot of time. Its length is part of the name: slot 5 of an hour is not slot 5 of a minute.
    pub(super) fn slot(slot_ms: u64, slot: u64) -> Self {
        Self::whole(format!("{SLOT}{slot_ms}:{slot}"))
    }

    const fn whole(text: String) -> Self {
        Self { text, hashed: false }
    }

    fn hash(prefix: &str, text: &str) -> Self {
        Self {
            text: format!("{prefix}{}", encoding::to_hex(&Sha256::digest(text))),
            hashed: true,
        }
    }
}

fn check(text: &str) -> Result<(), Refusal> {
    if text.is_empty() {
        return Err(Refusal::rejected(
            RejectionCode::EventIdMissing,
            "The event id is empty",
            "All events without an id would look like one and the same. Check where the id is taken from.",
        ));
    }
    if text.contains('\0') {
        return Err(Refusal::rejected(
            RejectionCode::EventIdInvalid,
            "The event id holds a NUL character",
            "No provider sends one. Check where the id is taken from.",
        ));
    }
    Ok(())
}
