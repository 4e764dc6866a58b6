//! The shapes of `boundary.d.ts` in Rust. Unknown fields are refused; a field that may be `null` must still be there.

pub(crate) mod answer;
pub(crate) mod canonical;
pub(crate) mod decide;
pub(crate) mod key;
pub(crate) mod provider;
pub(crate) mod refusal;
pub(crate) mod request;
pub(crate) mod scheme;
pub(crate) mod verify;
