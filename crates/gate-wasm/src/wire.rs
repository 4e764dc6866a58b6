//! The shapes of `boundary.d.ts` in Rust. Unknown fields are refused; a field that may be `null` must still be there.

pub mod canonical;
pub mod decide;
pub mod key;
pub mod provider;
pub mod refusal;
pub mod scheme;
pub mod verify;

use serde::{Deserialize, Deserializer};

/// For an optional field: absent or a value, never `null`. `JSON.stringify` writes NaN as `null`, and that must not turn
/// into a default.
pub(crate) fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// For a field that may be `null` but has to be there.
pub(crate) fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

/// Milliseconds from a JavaScript number. Negative and not-a-number become 0, too large becomes the largest.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and that is what is wanted"
)]
pub(crate) const fn whole_ms(number: f64) -> u64 {
    number as u64
}
