//! The signed time: plain decimal digits, and near enough to the time of receipt.

use super::fault::Fault;
use super::scheme::{TimeUnit, Timestamp};
use crate::vocabulary::{ConfigurationCode, Refusal};

/// A longer window would keep a captured request alive for a year: that is no window any more.
pub const MAX_TOLERANCE_MS: u64 = 366 * 24 * 60 * 60 * 1000;

/// The window to apply: the caller's, else the provider's.
pub(super) fn tolerance(scheme: Timestamp, given_ms: Option<u64>) -> Result<u64, Refusal> {
    match given_ms {
        None => Ok(scheme.tolerance_ms),
        Some(1..=MAX_TOLERANCE_MS) => given_ms.map_or(Ok(scheme.tolerance_ms), Ok),
        Some(_) => Err(Refusal::misconfigured(
            ConfigurationCode::ToleranceInvalid,
            "The timestamp tolerance is out of range",
            "Set it to more than 0 seconds and at most 366 days. 300 seconds is what most providers recommend.",
        )),
    }
}

/// The time in ms since the epoch, if it is in the provider's form and inside the window.
pub(super) fn check(text: &str, unit: TimeUnit, now_ms: u64, tolerance_ms: u64) -> Result<u64, Fault<'static>> {
    let sent = parse(text).ok_or(Fault::TimestampMalformed)?;
    let sent_ms = sent.checked_mul(unit.as_ms()).ok_or(Fault::TimestampMalformed)?;
    // Compared in the sender's own unit: a sender who writes whole seconds has cut off up to 999 ms.
    let now = now_ms.checked_div(unit.as_ms()).unwrap_or(now_ms);
    let distance_ms = now.abs_diff(sent).saturating_mul(unit.as_ms());
    if distance_ms > tolerance_ms {
        return Err(Fault::TimestampOutside {
            in_future: sent > now,
            distance_ms,
            tolerance_ms,
        });
    }
    Ok(sent_ms)
}

/// Digits only: no sign, no leading zero, no fraction, no more digits than a time can have.
fn parse(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|c| c.is_ascii_digit()) && (1..=16).contains(&text.len());
    let canonical = text == "0" || !text.starts_with('0');
    if plain && canonical { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_760_000_000_999;

    #[test]
    fn only_plain_decimal_digits_are_a_time() {
        for bad in [
            "",
            "+1760000000",
            "-1",
            "01760000000",
            "1760000000.0",
            "1760000000abc",
            "0x68e7",
            "99999999999999999999",
            "１",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
        assert_eq!(parse("1760000000"), Some(1_760_000_000));
        assert_eq!(parse("0"), Some(0));
    }

    #[test]
    fn the_window_has_two_sides_and_includes_its_edges() {
        let seconds = |text| check(text, TimeUnit::Seconds, NOW, 300_000).is_ok();
        assert!(seconds("1759999700") && seconds("1760000300"));
        assert!(!seconds("1759999699") && !seconds("1760000301"));
        let ms = |text| check(text, TimeUnit::Milliseconds, NOW, 5).is_ok();
        assert!(ms("1760000000994") && ms("1760000001004"));
        assert!(!ms("1760000000993") && !ms("1760000001005"));
    }

    #[test]
    fn no_number_overflows() {
        for now in [0, NOW, u64::MAX] {
            for text in ["0", "9999999999999999"] {
                for unit in [TimeUnit::Seconds, TimeUnit::Milliseconds] {
                    let _ = check(text, unit, now, u64::MAX);
                }
            }
        }
    }

    #[test]
    fn a_tolerance_of_zero_or_of_years_is_refused() {
        let scheme = Timestamp {
            unit: TimeUnit::Seconds,
            tolerance_ms: 300_000,
        };
        assert_eq!(tolerance(scheme, None), Ok(300_000));
        assert_eq!(tolerance(scheme, Some(5_000)), Ok(5_000));
        for bad in [0, MAX_TOLERANCE_MS + 1] {
            let Err(Refusal::Misconfigured { code, .. }) = tolerance(scheme, Some(bad)) else {
                panic!("{bad} was taken")
            };
            assert_eq!(code, ConfigurationCode::ToleranceInvalid);
        }
    }
}
