//! The provider table: who signs how, and where the event id is. Adding a provider is one entry here plus vectors.

/// One row of the table.
#[derive(Debug)]
pub struct Provider {
    /// Stable key, e.g. `stripe`; part of every event key, never changed.
    pub key: &'static str,
    /// Name for people, e.g. `Standard Webhooks (Svix)`.
    pub display_name: &'static str,
    /// How the request is signed; `None` where the gate cannot verify (`none`).
    pub scheme: Option<&'static crate::signature::Scheme>,
    /// Where the event id is, first hit wins; empty where the user must say.
    pub event_id: &'static [Field],
    /// True when the signature covers the id.
    pub id_signed: bool,
    /// Parts of the event type, joined with `.`; a part that is absent is left out.
    pub event_type: &'static [&'static [Field]],
    /// Longest documented automatic retry window, ms.
    pub retry_window_ms: Option<u64>,
    /// How well this row is supported.
    pub evidence: Evidence,
    /// The provider's own page on signatures.
    pub docs_url: &'static str,
}

/// Where a value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// A request header, lower-case name.
    Header(&'static str),
    /// A member of the JSON body, by path from the top.
    Body(&'static [&'static str]),
}

/// How well a row of the table is supported (`evidence` tags of the provider research).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The provider's own SDK was read or run.
    Sdk,
    /// The provider's own documentation.
    Docs,
    /// A published test vector is reproduced.
    Published,
    /// Second-hand sources only.
    Secondary,
    /// Not verified.
    Unverified,
}
