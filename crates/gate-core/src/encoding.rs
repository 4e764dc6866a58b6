//! Bytes as text: hexadecimal and the Base64 family, strict in both directions. Exactly one text stands for given bytes.
//!
//! The decoders are our own: they are a few lines, and general ones for two alphabets and two paddings cost the WebAssembly
//! module 12 KB. `tests/encoding.rs` holds them against the crate `base64ct`.

use alloc::string::String;
use alloc::vec::Vec;

/// How a signature is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Lower-case hexadecimal. Upper case is refused: no provider sends it, and one signature should have one text.
    Hex,
    /// The standard alphabet of RFC 4648 section 4, with padding.
    Base64,
    /// The URL-safe alphabet of RFC 4648 section 5; both customs of padding exist, so both are taken.
    Base64Url,
}

impl Encoding {
    /// The bytes, or `None` where the text is not exactly in this form.
    #[must_use]
    pub fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Hex => from_hex(text),
            Self::Base64 => base64(text, *b"+/", Padding::Required),
            Self::Base64Url => base64(text, *b"-_", Padding::Optional),
        }
    }
}

/// Lower-case hexadecimal.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(digit.into(), 16).unwrap_or_default());
        }
    }
    text
}

/// Bytes from lower-case hexadecimal, or `None`.
#[must_use]
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let mut bytes = Vec::with_capacity(pairs.len());
    for &[high, low] in pairs {
        bytes.push((hex_digit(high)? << 4) | hex_digit(low)?);
    }
    Some(bytes)
}

/// Bytes from standard Base64 whose padding may be missing (it says nothing that the length does not), or `None`.
/// Stray bits behind the last byte, other alphabets and white space are refused.
#[must_use]
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    base64(text, *b"+/", Padding::Optional)
}

fn hex_digit(c: u8) -> Option<u8> {
    match c {
        b'0'..=b'9' => Some(c.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(c.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Padding {
    Required,
    Optional,
}

/// `last`: the two characters of the alphabet for 62 and 63.
fn base64(text: &str, last: [u8; 2], padding: Padding) -> Option<Vec<u8>> {
    let unpadded = text.trim_end_matches('=').as_bytes();
    let pads = text.len().checked_sub(unpadded.len())?;
    let whole = pads <= 2 && text.len().is_multiple_of(4);
    if !whole && (pads > 0 || padding == Padding::Required) {
        return None;
    }
    let mut bytes = Vec::with_capacity(unpadded.len());
    for group in unpadded.chunks(4) {
        let mut bits = 0_u32;
        for at in 0..4 {
            let six = group.get(at).map_or(Some(0), |&c| base64_digit(c, last))?;
            bits = (bits << 6) | u32::from(six);
        }
        let [_, first, second, third] = bits.to_be_bytes();
        // Characters to bytes: 4 to 3, 3 to 2, 2 to 1; what is left of the bits must be zero.
        match (group.len(), second, third) {
            (4, ..) => bytes.extend([first, second, third]),
            (3, _, 0) => bytes.extend([first, second]),
            (2, 0, 0) => bytes.push(first),
            _ => return None,
        }
    }
    Some(bytes)
}

fn base64_digit(c: u8, [for_62, for_63]: [u8; 2]) -> Option<u8> {
    match c {
        b'A'..=b'Z' => Some(c.wrapping_sub(b'A')),
        b'a'..=b'z' => Some(c.wrapping_sub(b'a').wrapping_add(26)),
        b'0'..=b'9' => Some(c.wrapping_sub(b'0').wrapping_add(52)),
        _ if c == for_62 => Some(62),
        _ if c == for_63 => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_lower_case_and_even() {
        assert_eq!(from_hex("00ff7a"), Some(vec![0, 255, 0x7a]));
        assert_eq!(to_hex(&[0, 255, 0x7a]), "00ff7a");
        for bad in ["0", "0G", "FF", " 00", "00 ", "0x00", "é0"] {
            assert_eq!(from_hex(bad), None, "{bad}");
        }
    }

    #[test]
    fn base64_is_canonical() {
        assert_eq!(Encoding::Base64.decode("/+8="), Some(vec![0xff, 0xef]));
        for bad in ["/+8", "_-8=", "/+9=", "/+ 8=", "/+8=\n", "/+8==", "===="] {
            assert_eq!(Encoding::Base64.decode(bad), None, "{bad}");
        }
    }

    #[test]
    fn base64url_takes_both_customs_of_padding() {
        for good in ["_-8", "_-8="] {
            assert_eq!(Encoding::Base64Url.decode(good), Some(vec![0xff, 0xef]));
        }
        for bad in ["/+8", "_-9", "_-8=="] {
            assert_eq!(Encoding::Base64Url.decode(bad), None, "{bad}");
        }
    }

    #[test]
    fn secrets_may_lack_padding_but_nothing_else() {
        assert_eq!(from_base64("/+8"), Some(vec![0xff, 0xef]));
        assert_eq!(from_base64("/+8="), Some(vec![0xff, 0xef]));
        for bad in ["/+9", "_-8", "/+8AA", "!!!!", "/+8 "] {
            assert_eq!(from_base64(bad), None, "{bad}");
        }
    }
}
