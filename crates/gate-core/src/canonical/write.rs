//! The second pass: writes the text in canonical order, into memory or straight into a hash.

use alloc::vec::Vec;

use super::index::{End, Index};
use super::{Mode, number};
use crate::encoding::to_hex;
use crate::json::{Fault, JsonError, RawString, Reader, Token};

/// Where the canonical form goes.
pub(super) trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

impl Sink for sha2::Sha256 {
    fn put(&mut self, bytes: &[u8]) {
        sha2::Digest::update(self, bytes);
    }
}

/// Writes the text that the index was made of.
pub(super) fn write(text: &str, index: &Index<'_>, mode: Mode, sink: &mut dyn Sink) -> Result<(), JsonError> {
    let mut writer = Writer {
        text,
        index,
        mode,
        sink,
    };
    writer.value(Reader::new(text), 0)
}

struct Writer<'w, 'a> {
    text: &'a str,
    index: &'w Index<'a>,
    mode: Mode,
    sink: &'w mut dyn Sink,
}

impl<'a> Writer<'_, 'a> {
    /// Writes one value; `object` is the number of the first object in it. Calls itself once per object around a value, and
    /// the first pass has found at most [`MAX_DEPTH`](crate::json::MAX_DEPTH) of them.
    fn value(&mut self, mut reader: Reader<'a>, mut object: usize) -> Result<(), JsonError> {
        let mut separate = false;
        while let Some(token) = reader.next_token()? {
            if !matches!(token, Token::EndArray) {
                if let Some(end) = self.index.element_left_out(reader.token_start()) {
                    if matches!(token, Token::BeginObject | Token::BeginArray) {
                        reader.leave(end.offset);
                        object = end.object;
                    }
                    continue;
                }
                if separate {
                    self.sink.put(b",");
                }
            }
            separate = !matches!(token, Token::BeginArray);
            match token {
                Token::BeginArray => self.sink.put(b"["),
                Token::EndArray => self.sink.put(b"]"),
                Token::BeginObject => {
                    let end = self.object(object, &reader)?;
                    reader.leave(end.offset);
                    object = end.object;
                }
                Token::String(text) => self.string(text),
                Token::Number(literal) => {
                    if !number::write(literal, self.mode, self.sink) {
                        return Err(JsonError {
                            fault: Fault::NumberOutOfRange,
                            offset: reader.token_start(),
                        });
                    }
                }
                Token::True => self.sink.put(b"true"),
                Token::False => self.sink.put(b"false"),
                Token::Null => self.sink.put(b"null"),
                // Both belong to an object, and those are written member by member.
                Token::Name(_) | Token::EndObject => {}
            }
            if reader.depth() == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Writes an object and tells where it ends.
    fn object(&mut self, number: usize, reader: &Reader<'a>) -> Result<End, JsonError> {
        let index = self.index;
        let (members, end) = index.object(number).ok_or(JsonError {
            fault: Fault::Syntax,
            offset: reader.token_start(),
        })?;
        self.sink.put(b"{");
        for (position, member) in members.iter().enumerate() {
            if position > 0 {
                self.sink.put(b",");
            }
            self.string(member.name);
            self.sink.put(b":");
            self.value(Reader::at(self.text, member.value), member.object)?;
        }
        self.sink.put(b"}");
        Ok(end)
    }

    /// RFC 8785, 3.2.2.2: the shortest escapes, and only where JSON demands one.
    fn string(&mut self, string: RawString<'_>) {
        self.sink.put(b"\"");
        if string.is_escaped() {
            for character in char::decode_utf16(string.units()).flatten() {
                self.character(character);
            }
        } else {
            // Without an escape there is nothing in it that needs one.
            self.sink.put(string.raw().as_bytes());
        }
        self.sink.put(b"\"");
    }

    fn character(&mut self, character: char) {
        match character {
            '"' => self.sink.put(b"\\\""),
            '\\' => self.sink.put(b"\\\\"),
            '\u{08}' => self.sink.put(b"\\b"),
            '\t' => self.sink.put(b"\\t"),
            '\n' => self.sink.put(b"\\n"),
            '\u{0c}' => self.sink.put(b"\\f"),
            '\r' => self.sink.put(b"\\r"),
            '\u{00}'..='\u{1f}' => {
                self.sink.put(b"\\u00");
                self.sink.put(to_hex(&[character as u8]).as_bytes());
            }
            _ => self.sink.put(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}
