//! One token after the other, checked against the grammar. Keeps no more than its place and the kinds of open containers.

use super::string::{RawString, Surrogates, hex_unit};
use super::{Fault, JsonError, MAX_DEPTH};

/// A piece of a JSON text.
#[derive(Clone, Copy, Debug)]
pub enum Token<'a> {
    /// `{`
    BeginObject,
    /// `}`
    EndObject,
    /// `[`
    BeginArray,
    /// `]`
    EndArray,
    /// The name of a member; its value comes next.
    Name(RawString<'a>),
    /// A string value.
    String(RawString<'a>),
    /// A number, as it was written.
    Number(&'a str),
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
}

/// Reads a JSON text from front to back.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    token_start: usize,
    expect: Expect,
    /// Kinds of the open containers, the innermost in the lowest bit: 1 for an object.
    kinds: u128,
    depth: usize,
}

const _: () = assert!(MAX_DEPTH == 128, "`kinds` has one bit per level");

#[derive(Clone, Copy, Debug)]
enum Expect {
    Value,
    FirstElement,
    FirstName,
    CommaOrEnd,
    Nothing,
}

impl<'a> Reader<'a> {
    /// Starts at the beginning, behind a byte order mark if there is one (RFC 8259, 8.1).
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let at = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Self::at(text, at)
    }

    /// Starts at a value that stands in the middle of a text, `at` bytes from its beginning.
    #[must_use]
    pub fn at(text: &'a str, at: usize) -> Self {
        Self {
            text,
            at,
            token_start: at,
            expect: Expect::Value,
            kinds: 0,
            depth: 0,
        }
    }

    /// The next token, or `None` where the text is over.
    ///
    /// # Errors
    /// [`Fault::Syntax`] or [`Fault::TooDeep`]. There is no way to go on after an error.
    pub fn next_token(&mut self) -> Result<Option<Token<'a>>, JsonError> {
        self.skip_whitespace();
        self.token_start = self.at;
        match (self.expect, self.peek()) {
            (Expect::Nothing, None) => return Ok(None),
            (Expect::FirstElement, Some(b']')) => return Ok(Some(self.close(Token::EndArray))),
            (Expect::FirstName, Some(b'}')) => return Ok(Some(self.close(Token::EndObject))),
            (Expect::CommaOrEnd, Some(b'}')) if self.in_object() => return Ok(Some(self.close(Token::EndObject))),
            (Expect::CommaOrEnd, Some(b']')) if !self.in_object() => return Ok(Some(self.close(Token::EndArray))),
            (Expect::CommaOrEnd, Some(b',')) => {
                self.advance(1);
                self.skip_whitespace();
                self.token_start = self.at;
            }
            (Expect::CommaOrEnd | Expect::Nothing, _) => return Err(self.fault(Fault::Syntax)),
            (Expect::Value | Expect::FirstElement | Expect::FirstName, _) => {}
        }
        let wants_name = self.in_object() && !matches!(self.expect, Expect::Value);
        if wants_name { self.name() } else { self.value() }.map(Some)
    }

    /// Where the last token began, bytes from the beginning of the text.
    #[must_use]
    pub const fn token_start(&self) -> usize {
        self.token_start
    }

    /// Where the last token ended.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// How many containers are open.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// Skips to behind the innermost open container, which ends at `end` as an earlier pass found out.
    pub fn leave(&mut self, end: usize) {
        self.at = end;
        self.pop();
    }

    fn name(&mut self) -> Result<Token<'a>, JsonError> {
        let name = self.string()?;
        self.skip_whitespace();
        if self.peek() != Some(b':') {
            return Err(self.fault(Fault::Syntax));
        }
        self.advance(1);
        self.expect = Expect::Value;
        Ok(Token::Name(name))
    }

    fn value(&mut self) -> Result<Token<'a>, JsonError> {
        let token = match self.peek() {
            Some(b'{') => return self.open(Token::BeginObject),
            Some(b'[') => return self.open(Token::BeginArray),
            Some(b'"') => Token::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Token::Number(self.number()?),
            Some(b't') => self.literal("true", Token::True)?,
            Some(b'f') => self.literal("false", Token::False)?,
            Some(b'n') => self.literal("null", Token::Null)?,
            _ => return Err(self.fault(Fault::Syntax)),
        };
        self.after_value();
        Ok(token)
    }

    fn open(&mut self, token: Token<'a>) -> Result<Token<'a>, JsonError> {
        if self.depth == MAX_DEPTH {
            return Err(self.fault(Fault::TooDeep));
        }
        let is_object = matches!(token, Token::BeginObject);
        self.kinds = (self.kinds << 1) | u128::from(is_object);
        self.depth = self.depth.saturating_add(1);
        self.expect = if is_object {
            Expect::FirstName
        } else {
            Expect::FirstElement
        };
        self.advance(1);
        Ok(token)
    }

    fn close(&mut self, token: Token<'a>) -> Token<'a> {
        self.advance(1);
        self.pop();
        token
    }

    fn pop(&mut self) {
        self.kinds >>= 1;
        self.depth = self.depth.saturating_sub(1);
        self.after_value();
    }

    fn after_value(&mut self) {
        self.expect = if self.depth == 0 {
            Expect::Nothing
        } else {
            Expect::CommaOrEnd
        };
    }

    fn in_object(&self) -> bool {
        self.depth > 0 && self.kinds & 1 == 1
    }

    fn literal(&mut self, word: &str, token: Token<'a>) -> Result<Token<'a>, JsonError> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.fault(Fault::Syntax));
        }
        self.advance(word.len());
        Ok(token)
    }

    fn string(&mut self) -> Result<RawString<'a>, JsonError> {
        if self.peek() != Some(b'"') {
            return Err(self.fault(Fault::Syntax));
        }
        self.advance(1);
        let start = self.at;
        let mut escaped = false;
        let mut surrogates = Surrogates::default();
        loop {
            let run = self
                .rest()
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f));
            let run = run.ok_or_else(|| self.fault(Fault::Syntax))?;
            if run > 0 {
                surrogates.interrupt();
            }
            self.advance(run);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => surrogates.unit(self.escape()?),
                _ => return Err(self.fault(Fault::Syntax)),
            }
            escaped = true;
        }
        surrogates.interrupt();
        let text = self.text.get(start..self.at).ok_or_else(|| self.fault(Fault::Syntax))?;
        self.advance(1);
        Ok(RawString {
            text,
            escaped,
            lone_surrogate: surrogates.lone,
        })
    }

    /// Checks one escape and tells the code unit it stands for; 0 for all that cannot be part of a pair.
    fn escape(&mut self) -> Result<u16, JsonError> {
        let unit = match self.rest() {
            [_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => {
                self.advance(2);
                return Ok(0);
            }
            [_, b'u', hex @ ..] => hex.get(..4).and_then(hex_unit),
            _ => None,
        };
        let unit = unit.ok_or_else(|| self.fault(Fault::Syntax))?;
        self.advance(6);
        Ok(unit)
    }

    fn number(&mut self) -> Result<&'a str, JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.advance(1);
        }
        if self.peek() == Some(b'0') {
            self.advance(1);
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.advance(1);
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.advance(1);
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.advance(1);
            }
            self.digits()?;
        }
        self.text.get(start..self.at).ok_or_else(|| self.fault(Fault::Syntax))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.fault(Fault::Syntax));
        }
        self.advance(count);
        Ok(())
    }

    fn skip_whitespace(&mut self) {
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.advance(self.rest().iter().take_while(blank).count());
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn advance(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn fault(&self, fault: Fault) -> JsonError {
        JsonError {
            fault,
            offset: self.at.min(self.text.len()),
        }
    }
}
