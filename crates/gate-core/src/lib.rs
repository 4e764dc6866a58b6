//! The inside of the Idempotency Gate: what is decided about one delivery of a webhook event.
//!
//! 1. [`signature`]: is the request from whom it claims to be? Over the raw body, against the provider's scheme.
//! 2. [`key`]: which event is it? Scope, provider and id as three fields; without an id, a digest of the [`canonical`] JSON.
//! 3. [`decision`]: what does the store's answer mean for the workflow and for the sender?
//!
//! Pure functions: the clock, randomness, the store and n8n are outside, and without the standard library they cannot even be
//! reached from here. Nothing here panics on anything a sender can reach.

#![cfg_attr(not(test), no_std)]

extern crate alloc;

pub mod canonical;
pub mod decision;
pub mod encoding;
pub mod header;
pub mod json;
pub mod key;
pub mod provider;
pub mod secret;
pub mod signature;
pub mod vocabulary;
