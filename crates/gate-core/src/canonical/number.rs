//! One spelling per number. A literal is a decimal of any length; a double is what RFC 8785 makes of it.

use super::write::Sink;
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};

use super::{Mode, double};

/// Largest exponent that counts as a number, in either direction.
const MAX_EXPONENT: u64 = 1_000_000_000;

/// `-0.DIGITS * 10^point`, with no zero at either end of the digits; zero has none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    point: i64,
}

/// Writes a literal, or answers `false` where it has no canonical form: a double that overflows, or an exponent beyond any
/// use.
#[must_use]
pub(super) fn write(literal: &str, mode: Mode, sink: &mut dyn Sink) -> bool {
    if is_plain(literal) {
        sink.put(literal.as_bytes());
        return true;
    }
    let exact = Decimal::parse(literal);
    match (mode, exact.shortest_double()) {
        (Mode::Rfc8785, None) => return false,
        (Mode::Rfc8785, Some(double)) => double.write(PLAIN_DIGITS, sink),
        (Mode::GateExact1, Some(double)) if double == exact => double.write(PLAIN_DIGITS, sink),
        (Mode::GateExact1, _) if exact.point.unsigned_abs() > MAX_EXPONENT => return false,
        // Plain digits as long as the zeros that have to be filled in do not outnumber the digits that are there: the
        // text never gets longer than a few times the literal.
        (Mode::GateExact1, _) => exact.write(PLAIN_DIGITS.max(exact.len().saturating_mul(2)), sink),
    }
    true
}

/// ECMAScript writes integers of up to this many digits without an exponent.
const PLAIN_DIGITS: i64 = 21;

/// A double holds any decimal of this many digits, in the sense that it gives it back.
const SAFE_DIGITS: usize = 15;

/// An integer that every double holds and every mode writes as it stands.
fn is_plain(literal: &str) -> bool {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    digits.len() <= SAFE_DIGITS && literal != "-0" && digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl Decimal {
    /// Reads a number in the grammar of JSON. An exponent too long for an `i64` becomes one that is just as far beyond use.
    fn parse(literal: &str) -> Self {
        let (negative, unsigned) = literal.strip_prefix('-').map_or((false, literal), |rest| (true, rest));
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));

        let all = [whole, fraction].concat();
        let significant = all.trim_start_matches('0');
        let leading_zeros = all.len().saturating_sub(significant.len());
        let digits = significant.trim_end_matches('0').to_owned();
        if digits.is_empty() {
            return Self::ZERO;
        }
        let point = length(whole)
            .saturating_sub(i64::try_from(leading_zeros).unwrap_or(i64::MAX))
            .saturating_add(read_exponent(exponent));
        Self {
            negative,
            digits,
            point,
        }
    }

    const ZERO: Self = Self {
        negative: false,
        digits: String::new(),
        point: 0,
    };

    /// The shortest decimal of the nearest double, the even one of two equally near, or `None` where that overflows.
    fn shortest_double(&self) -> Option<Self> {
        // Any two decimals of up to 15 digits are nearest to two doubles, so each is the shortest of its own. (Not so where
        // doubles have fewer bits, below 1e-307.)
        const SAFE_POINTS: core::ops::RangeInclusive<i64> = -300..=300;
        if self.digits.len() <= SAFE_DIGITS && SAFE_POINTS.contains(&self.point) {
            return Some(self.clone());
        }
        let double = double::nearest(&self.digits, self.point)?;
        let shortest = Self::parse(zmij::Buffer::new().format_finite(double));
        // Zero has no sign here.
        Some(Self {
            negative: self.negative && !shortest.digits.is_empty(),
            ..shortest
        })
    }

    fn len(&self) -> i64 {
        length(&self.digits)
    }

    /// The layout of ECMAScript's `Number::toString` (ECMA-262, 6.1.6.1.20), without an exponent up to `plain` digits in
    /// front of the point.
    fn write(&self, plain: i64, sink: &mut dyn Sink) {
        const ZEROS_BEHIND_POINT: i64 = -6;
        if self.digits.is_empty() {
            sink.put(b"0");
            return;
        }
        if self.negative {
            sink.put(b"-");
        }
        let point = self.point;
        if point > ZEROS_BEHIND_POINT && point <= 0 {
            sink.put(b"0.");
            zeros(point.saturating_neg(), sink);
            sink.put(self.digits.as_bytes());
        } else if point > 0 && point <= plain {
            let (whole, fraction) = self.split_at(point);
            sink.put(whole.as_bytes());
            zeros(point.saturating_sub(self.len()), sink);
            if !fraction.is_empty() {
                sink.put(b".");
                sink.put(fraction.as_bytes());
            }
        } else {
            let (first, rest) = self.split_at(1);
            sink.put(first.as_bytes());
            if !rest.is_empty() {
                sink.put(b".");
                sink.put(rest.as_bytes());
            }
            let exponent = point.saturating_sub(1);
            sink.put(if exponent < 0 { b"e-" } else { b"e+" });
            sink.put(exponent.unsigned_abs().to_string().as_bytes());
        }
    }

    fn split_at(&self, point: i64) -> (&str, &str) {
        let split = usize::try_from(point)
            .ok()
            .and_then(|at| self.digits.split_at_checked(at));
        split.unwrap_or((&self.digits, ""))
    }
}

fn read_exponent(text: &str) -> i64 {
    // Half of the range, so that the digits of the mantissa cannot bring it back into use.
    const LARGEST: u64 = u64::MAX / 4;
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let size = match digits.trim_start_matches('0') {
        "" => 0,
        digits => digits.parse().unwrap_or(LARGEST).min(LARGEST).cast_signed(),
    };
    if negative { size.saturating_neg() } else { size }
}

fn zeros(count: i64, sink: &mut dyn Sink) {
    for _ in 0..count {
        sink.put(b"0");
    }
}

fn length(text: &str) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
