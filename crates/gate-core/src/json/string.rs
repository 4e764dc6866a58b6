//! Strings as they stand in the text: decoded only where somebody looks inside.

use alloc::borrow::Cow;
use alloc::string::String;
use core::cmp::Ordering;
use core::str::Chars;

/// A string of a JSON text, still escaped. Only the [`Reader`](super::Reader) makes one, so every escape is well formed.
#[derive(Clone, Copy, Debug)]
pub struct RawString<'a> {
    pub(super) text: &'a str,
    pub(super) escaped: bool,
    pub(super) lone_surrogate: bool,
}

impl<'a> RawString<'a> {
    /// The text between the quotes.
    #[must_use]
    pub const fn raw(self) -> &'a str {
        self.text
    }

    /// True where the text differs from what it means.
    #[must_use]
    pub const fn is_escaped(self) -> bool {
        self.escaped
    }

    /// True where it holds half of a surrogate pair, which RFC 8259 allows and no UTF-8 text can say.
    #[must_use]
    pub const fn has_lone_surrogate(self) -> bool {
        self.lone_surrogate
    }

    /// What it means, one UTF-16 code unit at a time: the order of RFC 8785, and the only form that holds everything.
    #[must_use]
    pub fn units(self) -> Units<'a> {
        Units {
            chars: self.text.chars(),
            low: None,
        }
    }

    /// The order of RFC 8785 (3.2.3): by UTF-16 code units of what is meant.
    #[must_use]
    pub fn cmp_utf16(self, other: RawString<'_>) -> Ordering {
        if self.escaped || other.escaped {
            self.units().cmp(other.units())
        } else {
            let (ours, theirs) = (self.text.bytes(), other.text.bytes());
            ours.map(utf16_weight).cmp(theirs.map(utf16_weight))
        }
    }

    /// What it means, or `None` where that is not Unicode text.
    #[must_use]
    pub fn decode(self) -> Option<Cow<'a, str>> {
        if !self.escaped {
            return Some(Cow::Borrowed(self.text));
        }
        let mut decoded = String::new();
        for character in char::decode_utf16(self.units()) {
            decoded.push(character.ok()?);
        }
        Some(Cow::Owned(decoded))
    }

    /// True where it means this text.
    #[must_use]
    pub fn is(self, other: &str) -> bool {
        if self.escaped {
            self.units().eq(other.encode_utf16())
        } else {
            self.text == other
        }
    }
}

/// Bytes of UTF-8 are in the order of UTF-16 already, but for one thing: U+E000 to U+FFFF, which begin with these two bytes,
/// come behind everything from U+10000 on, which UTF-16 writes with surrogates.
const fn utf16_weight(byte: u8) -> u8 {
    match byte {
        0xee => 0xfe,
        0xef => 0xff,
        _ => byte,
    }
}

/// UTF-16 code units of a [`RawString`].
#[derive(Clone, Debug)]
pub struct Units<'a> {
    chars: Chars<'a>,
    /// Second half of a pair whose first half was handed out.
    low: Option<u16>,
}

impl Iterator for Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        if let Some(low) = self.low.take() {
            return Some(low);
        }
        match self.chars.next()? {
            '\\' => self.escape(),
            character => Some(self.first_half(character)),
        }
    }
}

impl Units<'_> {
    fn escape(&mut self) -> Option<u16> {
        let unit = match self.chars.next()? {
            'b' => 0x08,
            't' => 0x09,
            'n' => 0x0a,
            'f' => 0x0c,
            'r' => 0x0d,
            'u' => {
                let (hex, rest) = self.chars.as_str().split_at_checked(4)?;
                self.chars = rest.chars();
                hex_unit(hex.as_bytes())?
            }
            itself => self.first_half(itself),
        };
        Some(unit)
    }

    fn first_half(&mut self, character: char) -> u16 {
        let mut pair = [0; 2];
        let units = character.encode_utf16(&mut pair);
        self.low = units.get(1).copied();
        pair[0]
    }
}

/// Whether every high surrogate is directly followed by its low one.
#[derive(Default)]
pub(super) struct Surrogates {
    after_high: bool,
    /// A half without its other one was seen.
    pub(super) lone: bool,
}

impl Surrogates {
    /// An escaped code unit follows.
    pub(super) fn unit(&mut self, unit: u16) {
        let is_low = matches!(unit, 0xdc00..=0xdfff);
        self.lone |= self.after_high != is_low;
        self.after_high = matches!(unit, 0xd800..=0xdbff);
    }

    /// Something else than an escaped code unit follows.
    pub(super) fn interrupt(&mut self) {
        self.lone |= self.after_high;
        self.after_high = false;
    }
}

/// Four hexadecimal digits.
pub(super) fn hex_unit(digits: &[u8]) -> Option<u16> {
    let mut unit = 0_u16;
    for digit in digits {
        let value = char::from(*digit).to_digit(16)?;
        unit = (unit << 4) | u16::try_from(value).ok()?;
    }
    Some(unit)
}
