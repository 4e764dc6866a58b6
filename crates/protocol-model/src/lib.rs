//! The life of a claim, as small as it can be written, and a world that does its worst to it.
//!
//! - [`reference`]: every rule by which a record may change, T1 to T15, as pure functions. What a store does is compared
//!   with these.
//! - [`world`]: workers that crash, answers that are lost, requests that arrive late, a clock that moves on, a person who
//!   intervenes, a sweeper. It knows every next step, so that a model checker can try them all.
//! - [`promise`]: what must hold whatever happens, judged by comparing before and after, not by asking the rules.
//! - [`flaw`]: mistakes that a store or a client could make. Each breaks a promise, which shows that the check can fail.
//!
//! Left out, since nothing that is promised here depends on it: durations and limits that differ from claim to claim, what a
//! claim carries along (stage, result, delivery, messages), guards, and two ends. `superseded` ends a record that was due
//! without handing it out, as T6 does, and what decides it is another record. A *resumed* run completes the claim that it
//! had marked as failed, with its old receipt, as long as that is still the newest one: T7 from one more state, and no run
//! may rely on it for having acted once. `tests/model` has all but the guards and the messages, beside a real store.
//!
//! The searches are in `tests/`. Nothing here is shipped.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "runs in tests only, where a wrong number should stop the search on the spot"
)]

pub mod flaw;
pub mod promise;
pub mod reference;
pub mod world;
