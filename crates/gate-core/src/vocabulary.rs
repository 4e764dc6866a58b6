//! The words that cross the boundary: states, verdicts, outcomes, codes. Written once, here; `cargo xtask wasm` writes
//! the TypeScript twin (`node-package/src/wasm/generated/vocabulary.ts`) from these tables.

use alloc::borrow::Cow;

/// An enum whose cases have one fixed text each, listed in [`ALL`](Self::ALL).
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$case_meta:meta])* $case:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$case_meta])* $case),+ }

        impl $name {
            /// Every case, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$case),+];

            /// The text that crosses the boundary.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$case => $text),+ }
            }

            /// The case with this text, or `None`: an unknown word is never guessed.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text)
            }
        }
    };
}

words! {
    /// Stored state of a claim.
    State {
        /// Somebody owns it and works on it, or did until the lease ended.
        Processing = "processing",
        /// Ended badly; may be claimed again when the backoff is over.
        Failed = "failed",
        /// Outcome unknown; a person or a reconcile workflow decides.
        Uncertain = "uncertain",
        /// Done.
        Completed = "completed",
        /// Attempts used up, or failed for good.
        Dead = "dead",
    }
}

words! {
    /// What a store answers to one ask.
    Verdict {
        /// No record existed; it is ours now.
        Claimed = "claimed",
        /// It is ours already: the same owner token asked before.
        Reentrant = "reentrant",
        /// It had failed, its backoff was over; it is ours now.
        Retried = "retried",
        /// Its owner's lease was over; it is ours now.
        TakenOver = "taken_over",
        /// Done by an earlier delivery.
        Completed = "completed",
        /// Somebody else's, with a live lease.
        InProgress = "in_progress",
        /// Failed, and its next attempt is not due yet.
        Backoff = "backoff",
        /// Waits for a person since before this delivery.
        Uncertain = "uncertain",
        /// Its lease was over; by policy it now waits for a person.
        Held = "held",
        /// Its lease or backoff was over, and no attempts were left: dead from now on.
        Exhausted = "exhausted",
        /// Dead since before this delivery.
        Dead = "dead",
        /// The same key stood earlier in the same call.
        DuplicateInBatch = "duplicate_in_batch",
        /// Another event holds this business key.
        BusinessDuplicate = "business_duplicate",
        /// Another event came with the same body.
        BodyDuplicate = "body_duplicate",
        /// A newer event for the same object is done.
        Superseded = "superseded",
        /// Same key, other body, and the caller asked to refuse that.
        PayloadMismatch = "payload_mismatch",
    }
}

words! {
    /// The gate's answer for one delivery.
    Outcome {
        /// First delivery of the event.
        Claimed = "claimed",
        /// Our own earlier claim, found again after a retry.
        Reentrant = "reentrant",
        /// A failed event, handed out again.
        Retried = "retried",
        /// An abandoned event, handed out again.
        TakenOver = "taken_over",
        /// Done by an earlier delivery.
        Completed = "completed",
        /// Same key earlier in the same input.
        DuplicateInBatch = "duplicate_in_batch",
        /// Another event with the same business key.
        BusinessDuplicate = "business_duplicate",
        /// Another event with the same body.
        BodyDuplicate = "body_duplicate",
        /// A newer event for the same object is done, so this one came too late to matter.
        Superseded = "superseded",
        /// Somebody else is working on it.
        InProgress = "in_progress",
        /// Failed; its next attempt is not due yet.
        Backoff = "backoff",
        /// Outcome unknown; waits for a person.
        Uncertain = "uncertain",
        /// Abandoned; waits for a person.
        Held = "held",
        /// Abandoned, attempts used up just now.
        Exhausted = "exhausted",
        /// Attempts used up, or failed for good.
        Dead = "dead",
        /// Same key, other body, refused on request.
        PayloadMismatch = "payload_mismatch",
        /// Refused before the store; `reason` says why.
        Rejected = "rejected",
        /// The store could not answer: nothing is known, ask again.
        Unavailable = "unavailable",
    }
}

words! {
    /// The sender's doing: why a delivery is refused before the store is asked.
    RejectionCode {
        /// The signature header is absent or empty.
        SignatureMissing = "signature_missing",
        /// The signature header is not in the provider's form.
        SignatureMalformed = "signature_malformed",
        /// A header of the scheme was sent more than once, or holds too many signatures.
        SignatureAmbiguous = "signature_ambiguous",
        /// No signature matches any secret over these bytes.
        SignatureMismatch = "signature_mismatch",
        /// The scheme signs a time, and none was sent.
        TimestampMissing = "timestamp_missing",
        /// The time is not in the provider's form.
        TimestampMalformed = "timestamp_malformed",
        /// The time is too far from now, on either side.
        TimestampOutsideTolerance = "timestamp_outside_tolerance",
        /// There are no raw bytes to check.
        RawBodyMissing = "raw_body_missing",
        /// The body is larger than the limit.
        BodyTooLarge = "body_too_large",
        /// The body has no bytes, so it names no event.
        BodyEmpty = "body_empty",
        /// The body is not strict JSON, and the id would be in it.
        BodyNotJson = "body_not_json",
        /// The body's JSON is nested deeper than the limit.
        BodyTooDeep = "body_too_deep",
        /// There is no event id where the provider puts it.
        EventIdMissing = "event_id_missing",
        /// The event id is of a form that cannot be a key.
        EventIdInvalid = "event_id_invalid",
        /// The business key is empty or of a form that cannot be a key.
        BusinessKeyInvalid = "business_key_invalid",
        /// The object's key or version is empty or of a form that cannot be compared.
        ObjectVersionInvalid = "object_version_invalid",
    }
}

words! {
    /// The user's doing: why the gate cannot work as it is set up.
    ConfigurationCode {
        /// No signing secret is set.
        SecretMissing = "secret_missing",
        /// The secret is a placeholder or an unevaluated expression.
        SecretPlaceholder = "secret_placeholder",
        /// The secret is not in the provider's form.
        SecretMalformed = "secret_malformed",
        /// No such provider in the table.
        ProviderUnknown = "provider_unknown",
        /// The custom scheme contradicts itself.
        SchemeInvalid = "scheme_invalid",
        /// The tolerance is zero, negative or absurdly large.
        ToleranceInvalid = "tolerance_invalid",
        /// The scope is empty, too long or holds NUL.
        ScopeInvalid = "scope_invalid",
        /// This provider names no event id: choose another source.
        KeySourceInvalid = "key_source_invalid",
        /// A field to ignore is not an RFC 6901 JSON pointer.
        PointerInvalid = "pointer_invalid",
        /// The time slot is not between a second and a day.
        SlotInvalid = "slot_invalid",
    }
}

words! {
    /// How JSON is written canonically.
    CanonicalMode {
        /// RFC 8785 (JCS): numbers as IEEE 754 doubles, so neighbouring big integers look alike.
        Rfc8785 = "rfc8785",
        /// RFC 8785, except that a number a double cannot hold keeps every digit.
        GateExact1 = "gate-jcs-exact-1",
    }
}

words! {
    /// Where an event id came from.
    KeySource {
        /// From the place where the provider puts it.
        Provider = "provider",
        /// A value the user computed.
        Value = "value",
        /// A digest of the canonical JSON.
        CanonicalJson = "canonical_json",
        /// A digest of the raw body, which is not strict JSON.
        RawBody = "raw_body",
        /// A slot of wall-clock time.
        TimeSlot = "time_slot",
    }
}

words! {
    /// How a store failed to answer.
    StoreFailure {
        /// It could not be reached, or cannot serve.
        Unavailable = "store_unavailable",
        /// It was reached, but a deadline passed.
        Busy = "store_busy",
    }
}

words! {
    /// Outputs of the gate.
    Output {
        /// The event goes on: it is ours.
        Claimed = "claimed",
        /// The event is known: answer the sender, do nothing else.
        Duplicate = "duplicate",
        /// The delivery was not accepted.
        Rejected = "rejected",
    }
}

words! {
    /// What the sender of a duplicate is told that could be over soon.
    Patience {
        /// "Received": something stands behind the gate that will see to it.
        Accept = "accept",
        /// "Come back later": the sender's own retry is the recovery.
        RetryLater = "retry_later",
    }
}

/// Why a request cannot be judged or accepted. Holds no secret, no signature and no body text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The sender's doing: answer 4xx, write nothing.
    Rejected {
        /// What kind.
        code: RejectionCode,
        /// What happened and what to do, for a person.
        text: Text,
    },
    /// The user's doing: stop the workflow and say so.
    Misconfigured {
        /// What kind.
        code: ConfigurationCode,
        /// What happened and what to do, for a person.
        text: Text,
    },
}

/// A message in n8n's manner: what happened, and how to get unstuck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// One sentence: what happened.
    pub message: Cow<'static, str>,
    /// One or two sentences: what to do about it.
    pub help: Cow<'static, str>,
}

impl Refusal {
    /// A refusal for the sender's doing.
    #[must_use]
    pub fn rejected(
        code: RejectionCode,
        message: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Rejected {
            code,
            text: Text {
                message: message.into(),
                help: help.into(),
            },
        }
    }

    /// A refusal for the user's doing.
    #[must_use]
    pub fn misconfigured(
        code: ConfigurationCode,
        message: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Misconfigured {
            code,
            text: Text {
                message: message.into(),
                help: help.into(),
            },
        }
    }
}
