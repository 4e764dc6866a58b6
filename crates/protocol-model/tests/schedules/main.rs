//! Every schedule of small worlds, by a model checker. `cargo test -p protocol-model -- --nocapture` shows how many there
//! are, and how each flaw breaks its promise.

mod checker;
mod flaws;
mod sound;
