//! From decimal digits to the nearest double, exactly, by long division.
//!
//! The standard library does the same faster, with 18 KB of code and tables that the WebAssembly module would have to carry.
//! Only numbers of more than 15 digits, or with large exponents, come here; the tests hold it against the standard library.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// No double's rounding depends on more digits than this (767 is the longest), only on whether there are more.
const SIGNIFICANT_DIGITS: usize = 800;

/// Decimal exponents beyond which every double has overflowed, or vanished.
const LARGEST_POINT: i64 = 310;
const SMALLEST_POINT: i64 = -330;

/// The double nearest to `0.DIGITS * 10^point`, the even one of two equally near; `None` where that overflows. The digits
/// neither begin nor end with zero.
pub(super) fn nearest(digits: &str, point: i64) -> Option<f64> {
    if point > LARGEST_POINT {
        return None;
    }
    if digits.is_empty() || point < SMALLEST_POINT {
        return Some(0.0);
    }
    if let Some(whole) = short_integer(digits, point) {
        return Some(whole);
    }
    let (mut mantissa, length) = read(digits);
    let exponent = point.saturating_sub(length);
    let mut divisor = Natural(vec![1]);
    let scaled = if exponent > 0 { &mut mantissa } else { &mut divisor };
    scaled.multiply_by_power_of_ten(exponent.unsigned_abs());
    let double = divide(mantissa, divisor);
    double.is_finite().then_some(double)
}

/// An integer of up to 64 bits, as ids are: the processor rounds it right.
#[expect(
    clippy::cast_precision_loss,
    reason = "to the nearest double, which is what is asked for"
)]
fn short_integer(digits: &str, point: i64) -> Option<f64> {
    let is_whole = i64::try_from(digits.len()) == Ok(point);
    let integer: u64 = if is_whole { digits.parse().ok()? } else { return None };
    Some(integer as f64)
}

/// The digits as a number, and how many there were. Digits that are left out count as one more that is not zero.
fn read(digits: &str) -> (Natural, i64) {
    let (kept, left_out) = digits.split_at_checked(SIGNIFICANT_DIGITS).unwrap_or((digits, ""));
    let sticky = if left_out.is_empty() { "" } else { "1" };
    let mut number = Natural(Vec::new());
    let mut length = 0_i64;
    for digit in kept.bytes().chain(sticky.bytes()) {
        number.multiply_add(10, digit.wrapping_sub(b'0').into());
        length = length.saturating_add(1);
    }
    (number, length)
}

/// The quotient as a double. Neither number is zero.
fn divide(mut rest: Natural, mut divisor: Natural) -> f64 {
    const FRACTION_BITS: i64 = 52;
    const SMALLEST_EXPONENT: i64 = -1022;
    const LARGEST_BIASED: u64 = 2046;

    // Scaled to more than one half and less than 2, the quotient has an exponent.
    let mut exponent = rest.bits().saturating_sub(divisor.bits());
    divisor.shift_left(exponent.max(0).unsigned_abs());
    rest.shift_left(exponent.min(0).unsigned_abs());
    // Digits are guessed from the highest limb of the divisor, which has to be a full one; a zero above it is for carries.
    let to_full_limb = divisor.0.last().map_or(0, |limb| limb.leading_zeros());
    divisor.shift_left(to_full_limb.into());
    rest.shift_left(to_full_limb.into());
    divisor.0.push(0);

    let whole = rest.take_digit(&divisor);
    let mut quotient = 0_u64;
    for _ in 0..2 {
        rest.0.insert(0, 0);
        quotient = (quotient << u32::BITS) | u64::from(rest.take_digit(&divisor));
    }
    let mut is_exact = rest.0.iter().all(|limb| *limb == 0);
    if whole == 0 {
        exponent = exponent.saturating_sub(1);
    } else {
        is_exact &= quotient & 1 == 0;
        quotient = (1 << 63) | (quotient >> 1);
    }

    // A double has 53 bits of these 64, and fewer below the smallest exponent.
    let missing = SMALLEST_EXPONENT.saturating_sub(exponent).max(0);
    let dropped = u32::try_from(missing.saturating_add(11)).unwrap_or(u32::MAX);
    let kept = quotient.checked_shr(dropped).unwrap_or(0);
    let remainder = quotient ^ kept.checked_shl(dropped).unwrap_or(0);
    let rounds_up = 1_u64
        .checked_shl(dropped.saturating_sub(1))
        .is_some_and(|half| match remainder.cmp(&half) {
            Ordering::Less => false,
            Ordering::Equal => !is_exact || kept & 1 == 1,
            Ordering::Greater => true,
        });
    // A carry out of the fraction arrives in the exponent, where it belongs; beyond the largest exponent it is infinite.
    let biased = exponent
        .saturating_sub(SMALLEST_EXPONENT)
        .max(0)
        .unsigned_abs()
        .min(LARGEST_BIASED);
    f64::from_bits(
        (biased << FRACTION_BITS)
            .wrapping_add(kept)
            .wrapping_add(rounds_up.into()),
    )
}

/// A natural number: 32 bits each, the lowest first.
#[derive(Debug)]
struct Natural(Vec<u32>);

impl Natural {
    fn multiply_by_power_of_ten(&mut self, power: u64) {
        for _ in 0..power / 9 {
            self.multiply_add(1_000_000_000, 0);
        }
        for _ in 0..power % 9 {
            self.multiply_add(10, 0);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the upper half is carried on")]
    fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for limb in &mut self.0 {
            carry = u64::from(*limb).wrapping_mul(factor.into()).wrapping_add(carry);
            *limb = carry as u32;
            carry >>= u32::BITS;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    fn shift_left(&mut self, bits: u64) {
        for _ in 0..bits / 32 {
            self.0.insert(0, 0);
        }
        let doublings = bits % 32;
        self.multiply_add(1 << (doublings / 2), 0);
        self.multiply_add(1 << doublings.div_ceil(2), 0);
    }

    /// Length in bits.
    fn bits(&self) -> i64 {
        let upper = self
            .0
            .last()
            .map_or(0, |limb| u32::BITS.saturating_sub(limb.leading_zeros()));
        let lower = self.0.len().saturating_sub(1).saturating_mul(32);
        i64::try_from(lower).unwrap_or(i64::MAX).saturating_add(upper.into())
    }

    /// How many times the divisor is in this number, fewer than 2^32, and leaves the rest. (Knuth, The Art of Computer
    /// Programming 4.3.1, algorithm D: a digit guessed from the highest limbs is right, or one or two too large.)
    fn take_digit(&mut self, divisor: &Self) -> u32 {
        self.0.resize(divisor.0.len(), 0);
        let dividend = (u64::from(self.highest(0)) << u32::BITS) | u64::from(self.highest(1));
        let guess = dividend.checked_div(divisor.highest(1).into()).unwrap_or(0);
        let mut digit = u32::try_from(guess).unwrap_or(u32::MAX);
        let mut is_negative = self.subtract_multiple(divisor, digit);
        while is_negative {
            digit = digit.wrapping_sub(1);
            is_negative = !self.add(divisor);
        }
        digit
    }

    fn highest(&self, at: usize) -> u32 {
        self.0.iter().rev().nth(at).copied().unwrap_or(0)
    }

    /// True where the result is negative: it then stands there less than zero by the range of the limbs.
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is carried on")]
    fn subtract_multiple(&mut self, other: &Self, factor: u32) -> bool {
        let mut carry = 0_u64;
        let mut borrow = false;
        for (limb, other) in self.0.iter_mut().zip(&other.0) {
            carry = u64::from(*other).wrapping_mul(factor.into()).wrapping_add(carry);
            let (less, first) = limb.overflowing_sub(carry as u32);
            let (less, second) = less.overflowing_sub(borrow.into());
            *limb = less;
            borrow = first || second;
            carry >>= u32::BITS;
        }
        borrow
    }

    /// True where the result is beyond the range of the limbs, so that a negative number has become positive again.
    fn add(&mut self, other: &Self) -> bool {
        let mut carry = false;
        for (limb, other) in self.0.iter_mut().zip(&other.0) {
            let (more, first) = limb.overflowing_add(*other);
            let (more, second) = more.overflowing_add(carry.into());
            *limb = more;
            carry = first || second;
        }
        carry
    }
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "small numbers of a test")]
mod tests {
    use super::nearest;
    use proptest::prelude::*;

    /// What the standard library says.
    fn expected(digits: &str, point: i64) -> Option<f64> {
        let double: f64 = format!("0.{digits}e{point}").parse().unwrap();
        double.is_finite().then_some(double)
    }

    fn same(digits: &str, point: i64) -> bool {
        nearest(digits, point).map(f64::to_bits) == expected(digits, point).map(f64::to_bits)
    }

    /// All digits of a double, and where its point is.
    fn all_digits(double: f64) -> (String, i64) {
        let text = format!("{double:.1100e}");
        let (mantissa, exponent) = text.split_once('e').unwrap();
        let digits = mantissa.replace('.', "");
        (
            digits.trim_end_matches('0').to_owned(),
            exponent.parse::<i64>().unwrap() + 1,
        )
    }

    /// As [`all_digits`], of the exact sum.
    fn decimal_sum(a: f64, b: f64) -> (String, i64) {
        let fixed = |double: f64| format!("{double:0400.300}").replace('.', "").into_bytes();
        let mut carry = 0;
        let mut sum: Vec<u8> = Vec::new();
        for (a, b) in fixed(a).into_iter().rev().zip(fixed(b).into_iter().rev()) {
            let digit = a - b'0' + b - b'0' + carry;
            sum.push(b'0' + digit % 10);
            carry = digit / 10;
        }
        sum.reverse();
        let text = String::from_utf8(sum).unwrap();
        let significant = text.trim_start_matches('0');
        let point = i64::try_from(significant.len()).unwrap() - 300;
        (significant.trim_end_matches('0').to_owned(), point)
    }

    #[test]
    fn the_edges_of_the_range() {
        for (digits, point) in [
            ("", 0),
            ("1", 1),
            ("17976931348623157", 309),
            ("17976931348623158", 309),
            ("17976931348623159", 309),
            ("1", 310),
            ("1", 311),
            ("22250738585072014", -307),
            ("22250738585072011", -307),
            ("49406564584124654", -323),
            ("24703282292062327", -323),
            ("24703282292062328", -323),
            ("24703282292062327208", -323),
            ("1", -330),
            ("1", -400),
            ("9007199254740993", 16),
            ("9007199254740991", 16),
        ] {
            assert!(same(digits, point), "0.{digits}e{point}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_decimal(digits in "[1-9]([0-9]{0,40}[1-9])?", point in -345..315_i64) {
            prop_assert!(same(&digits, point), "0.{digits}e{point}");
        }

        /// Halfway between two neighbours, and a little to each side: the digits that are hardest to round.
        #[test]
        fn halfway_between_neighbours(mantissa in 0..1_u64 << 52, exponent in -200..50_i32) {
            let double = f64::from_bits((1023 << 52) | mantissa) * 2_f64.powi(exponent);
            let half_a_step = 2_f64.powi(exponent - 53);
            let (digits, point) = decimal_sum(double, half_a_step);
            let below = format!("{}4999", digits.strip_suffix('5').unwrap());
            for digits in [&digits, &format!("{digits}0000001"), &below] {
                prop_assert!(same(digits, point), "0.{digits}e{point}");
            }
        }

        #[test]
        fn more_digits_than_can_matter(bits in 1..0x7fef_ffff_ffff_ffff_u64, zeros in 0..900_usize) {
            let (digits, point) = all_digits(f64::from_bits(bits));
            let long = format!("{digits}{}1", "0".repeat(zeros));
            prop_assert!(same(&long, point));
        }
    }
}
