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

/// Milliseconds from a JavaScript number. Negative and not-a-number become 0, too large becomes the largest.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and that is what is wanted"
)]
pub(crate) const fn whole_ms(number: f64) -> u64 {
    number as u64
}
