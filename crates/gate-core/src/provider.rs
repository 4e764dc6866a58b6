//! The provider table: who signs how, and where the event id is. Adding a provider is one entry in [`table`] plus vectors.

mod table;

pub use table::PROVIDERS;

use alloc::string::{String, ToString};

use crate::signature::{Part, Scheme};

/// One row of the table.
#[derive(Debug)]
pub struct Provider {
    /// Stable key, e.g. `stripe`; part of every event key, never changed.
    pub key: &'static str,
    /// Name for people, e.g. `Standard Webhooks`.
    pub display_name: &'static str,
    /// How the request is signed; `None` where there is nothing to verify (`none`).
    pub scheme: Option<&'static Scheme<'static>>,
    /// What a right secret looks like, for people.
    pub secret_hint: &'static str,
    /// Beginnings that show a secret to be another kind of credential, with what it is instead.
    pub not_secrets: &'static [(&'static str, &'static str)],
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

impl Provider {
    /// The row with this key.
    #[must_use]
    pub fn find(key: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.key == key)
    }

    /// True where the body's digest should be claimed beside the id, since a sender could change an id that is not signed.
    #[must_use]
    pub const fn guard_body(&self) -> bool {
        !self.event_id.is_empty() && !self.id_signed
    }

    /// Lower-case names of the headers that may carry the signature.
    pub fn signature_headers(&self) -> impl Iterator<Item = &'static str> {
        self.scheme
            .into_iter()
            .flat_map(|scheme| scheme.families.iter().map(|family| family.signature))
    }

    /// What is signed, in words, e.g. `timestamp.body`.
    #[must_use]
    pub fn signed_content(&self) -> String {
        let content = self.scheme.map_or(&[][..], |scheme| scheme.content);
        content
            .iter()
            .map(|part| match part {
                Part::Body => "body",
                Part::Timestamp => "timestamp",
                Part::Id => "id",
                Part::Text(text) => text,
            })
            .collect()
    }

    /// Where the id is, in words, e.g. `body.id`; `None` where the user must say.
    #[must_use]
    pub fn id_from(&self) -> Option<String> {
        let mut places = String::new();
        for field in self.event_id {
            if !places.is_empty() {
                places.push_str(" or ");
            }
            places.push_str(&field.to_string());
        }
        (!places.is_empty()).then_some(places)
    }
}

/// Where a value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// A request header, lower-case name.
    Header(&'static str),
    /// A member of the JSON body, by path from the top.
    Body(&'static [&'static str]),
    /// A field of a form body (`application/x-www-form-urlencoded`), looked at only where the body is not JSON.
    Form(&'static str),
}

impl core::fmt::Display for Field {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Header(name) => write!(f, "header {name}"),
            Self::Body(path) => {
                f.write_str("body")?;
                path.iter().try_for_each(|name| write!(f, ".{name}"))
            }
            Self::Form(name) => write!(f, "form field {name}"),
        }
    }
}

/// How well a row of the table is supported.
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

impl Evidence {
    /// The text that crosses the boundary.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sdk => "sdk",
            Self::Docs => "docs",
            Self::Published => "published",
            Self::Secondary => "secondary",
            Self::Unverified => "unverified",
        }
    }
}

#[cfg(test)]
mod tests;
