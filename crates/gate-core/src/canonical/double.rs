//! From decimal digits to the nearest double, exactly, by long division.
//!
//! The standard library does the same faster, with 18 KB of code and tables that the WebAssembly module would have to carry.
//! Only numbers of more than 15 digits, or not whole, come here; the tests hold it against the standard library.

use std::cmp::Ordering;

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
    let (mut mantissa, length) = read(digits);
    let exponent = point.saturating_sub(length);
    let mut divisor = Natural(vec![1]);
    let scaled = if exponent > 0 { &mut mantissa } else { &mut divisor };
    scaled.multiply_by_power_of_ten(exponent.unsigned_abs());
    let double = divide(mantissa, divisor);
    double.is_finite().then_some(double)
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

    // Scaled to at least 1 and less than 2, the quotient has a first bit and an exponent.
    let mut exponent = rest.bits().saturating_sub(divisor.bits());
    divisor.shift_left(exponent.max(0).unsigned_abs());
    rest.shift_left(exponent.min(0).unsigned_abs());
    if rest.compare(&divisor) == Ordering::Less {
        rest.shift_left(1);
        exponent = exponent.saturating_sub(1);
    }

    // Below the smallest exponent a double has fewer bits.
    let missing = SMALLEST_EXPONENT.saturating_sub(exponent).max(0);
    let precision = FRACTION_BITS.saturating_add(1).saturating_sub(missing);
    let mut quotient = 0_u64;
    for _ in 0..precision {
        quotient <<= 1;
        if rest.compare(&divisor) != Ordering::Less {
            rest.subtract(&divisor);
            quotient |= 1;
        }
        rest.shift_left(1);
    }
    // The rest was doubled once too often: it is to the divisor as the remainder is to one half.
    let rounds_up = match rest.compare(&divisor) {
        Ordering::Less => false,
        Ordering::Equal => quotient & 1 == 1,
        Ordering::Greater => precision >= 0,
    };
    // A carry out of the fraction arrives in the exponent, where it belongs; beyond the largest exponent it is infinite.
    let biased = exponent
        .saturating_sub(SMALLEST_EXPONENT)
        .max(0)
        .unsigned_abs()
        .min(LARGEST_BIASED);
    f64::from_bits(
        (biased << FRACTION_BITS)
            .wrapping_add(quotient)
            .wrapping_add(rounds_up.into()),
    )
}

/// A natural number: 32 bits each, the lowest first, no zero at the end.
#[derive(Debug)]
struct Natural(Vec<u32>);

impl Natural {
    fn multiply_by_power_of_ten(&mut self, power: u64) {
        for _ in 0..power {
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
        for _ in 0..bits / 16 {
            self.multiply_add(1 << 16, 0);
        }
        self.multiply_add(1 << (bits % 16), 0);
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

    fn compare(&self, other: &Self) -> Ordering {
        let by_length = self.0.len().cmp(&other.0.len());
        by_length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// `other` is not larger.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the sign is carried on"
    )]
    fn subtract(&mut self, other: &Self) {
        let mut borrow = 0_i64;
        for (limb, taken) in self
            .0
            .iter_mut()
            .zip(other.0.iter().copied().chain(std::iter::repeat(0)))
        {
            borrow = i64::from(*limb).wrapping_sub(taken.into()).wrapping_add(borrow);
            *limb = borrow as u32;
            borrow >>= u32::BITS;
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
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
