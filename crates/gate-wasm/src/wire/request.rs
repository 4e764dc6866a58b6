//! Reading a request: JSON text by the core's own strict reader, then field by field. What is left over is refused.

use gate_core::json::{RawString, Reader, Token};

use crate::calls::Malformed;

/// A JSON value whose texts are still as they were written.
#[derive(Debug)]
pub(crate) enum Value<'a> {
    Null,
    Flag(bool),
    Number(&'a str),
    Text(RawString<'a>),
    List(Vec<Value<'a>>),
    Object(Object<'a>),
}

/// An object that is taken apart. Every field that is known is taken once; [`end`](Self::end) refuses the others.
#[derive(Debug)]
pub(crate) struct Object<'a>(Vec<(RawString<'a>, Value<'a>)>);

/// The request itself.
pub(crate) fn read(text: &str) -> Result<Object<'_>, Malformed> {
    let mut reader = Reader::new(text);
    let first = token(&mut reader)?;
    let Value::Object(request) = value(first, &mut reader)? else {
        return Err(NOT_AN_OBJECT);
    };
    match reader.next_token() {
        Ok(None) => Ok(request),
        _ => Err(NOT_AN_OBJECT),
    }
}

impl<'a> Object<'a> {
    pub(crate) fn text(&mut self, name: &'static str) -> Result<String, Malformed> {
        self.required(name)?.into_text(name)
    }

    /// A text or `null`.
    pub(crate) fn nullable_text(&mut self, name: &'static str) -> Result<Option<String>, Malformed> {
        match self.required(name)? {
            Value::Null => Ok(None),
            value => value.into_text(name).map(Some),
        }
    }

    /// A text that has to be one of some words.
    pub(crate) fn word<T>(&mut self, name: &'static str, parse: fn(&str) -> Option<T>) -> Result<T, Malformed> {
        let text = self.text(name)?;
        parse(&text).ok_or(wrong(name, "a known word"))
    }

    /// As [`word`](Self::word), or `null`.
    pub(crate) fn nullable_word<T>(
        &mut self,
        name: &'static str,
        parse: fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Malformed> {
        match self.nullable_text(name)? {
            None => Ok(None),
            Some(text) => parse(&text).map(Some).ok_or(wrong(name, "a known word")),
        }
    }

    /// Whole milliseconds from a JavaScript number. Negative ones become 0, too large ones the largest.
    pub(crate) fn milliseconds(&mut self, name: &'static str) -> Result<u64, Malformed> {
        self.required(name)?.into_milliseconds(name)
    }

    /// As [`milliseconds`](Self::milliseconds), or `null`.
    pub(crate) fn nullable_milliseconds(&mut self, name: &'static str) -> Result<Option<u64>, Malformed> {
        match self.required(name)? {
            Value::Null => Ok(None),
            value => value.into_milliseconds(name).map(Some),
        }
    }

    /// As [`milliseconds`](Self::milliseconds), or nothing at all. `null` is no number: `JSON.stringify` writes NaN as `null`,
    /// and that must not turn into a default.
    pub(crate) fn optional_milliseconds(&mut self, name: &'static str) -> Result<Option<u64>, Malformed> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => value.into_milliseconds(name).map(Some),
        }
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Result<bool, Malformed> {
        match self.required(name)? {
            Value::Flag(flag) => Ok(flag),
            _ => Err(wrong(name, "true or false")),
        }
    }

    pub(crate) fn object(&mut self, name: &'static str) -> Result<Object<'a>, Malformed> {
        self.optional_object(name)?.ok_or(wrong(name, "there"))
    }

    /// An object, or nothing at all.
    pub(crate) fn optional_object(&mut self, name: &'static str) -> Result<Option<Object<'a>>, Malformed> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(wrong(name, "an object")),
        }
    }

    pub(crate) fn list(&mut self, name: &'static str) -> Result<Vec<Value<'a>>, Malformed> {
        self.required(name)?.into_list(name)
    }

    pub(crate) fn texts(&mut self, name: &'static str) -> Result<Vec<String>, Malformed> {
        let mut texts = Vec::new();
        for value in self.list(name)? {
            texts.push(value.into_text(name)?);
        }
        Ok(texts)
    }

    /// Pairs of name and value.
    pub(crate) fn headers(&mut self) -> Result<Vec<(String, String)>, Malformed> {
        const NAME: &str = "headers";
        let mut headers = Vec::new();
        for value in self.list(NAME)? {
            let mut pair = value.into_list(NAME)?;
            match (pair.pop(), pair.pop(), pair.pop()) {
                (Some(value), Some(name), None) => headers.push((name.into_text(NAME)?, value.into_text(NAME)?)),
                _ => return Err(wrong(NAME, "a list of pairs")),
            }
        }
        Ok(headers)
    }

    /// Refuses what was not asked for, and a field that stands there twice.
    pub(crate) fn end(self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(UNKNOWN_FIELD) }
    }

    fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let at = self.0.iter().position(|(given, _)| given.is(name))?;
        Some(self.0.swap_remove(at).1)
    }

    fn required(&mut self, name: &'static str) -> Result<Value<'a>, Malformed> {
        self.take(name).ok_or(wrong(name, "there"))
    }
}

impl<'a> Value<'a> {
    /// JavaScript allows half a surrogate pair in a text; no such thing comes from HTTP or from settings.
    fn into_text(self, name: &'static str) -> Result<String, Malformed> {
        let Value::Text(text) = self else {
            return Err(wrong(name, "a text"));
        };
        text.decode().map(String::from).ok_or(wrong(name, "well-formed text"))
    }

    fn into_list(self, name: &'static str) -> Result<Vec<Value<'a>>, Malformed> {
        if let Value::List(list) = self {
            Ok(list)
        } else {
            Err(wrong(name, "a list"))
        }
    }

    /// JavaScript writes an exponent from 1e21 on, and below 1e-6.
    fn into_milliseconds(self, name: &'static str) -> Result<u64, Malformed> {
        let Value::Number(number) = self else {
            return Err(wrong(name, "a number"));
        };
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, ""));
        let whole = mantissa.split_once('.').map_or(mantissa, |(whole, _)| whole);
        Ok(match exponent {
            _ if whole.starts_with('-') => 0,
            "" => whole.parse().unwrap_or(u64::MAX),
            _ if exponent.starts_with('-') => 0,
            _ => u64::MAX,
        })
    }
}

/// Says what a field should be. Never quotes what it is.
pub(crate) const fn wrong(field: &'static str, wanted: &'static str) -> Malformed {
    Malformed { field, wanted }
}

const NOT_AN_OBJECT: Malformed = wrong("the request", "one JSON object");

const UNKNOWN_FIELD: Malformed = wrong("a field", "known, or stands there twice");

/// The depth of the recursion is bounded by the reader, which refuses more than 128 levels.
fn value<'a>(first: Token<'a>, reader: &mut Reader<'a>) -> Result<Value<'a>, Malformed> {
    Ok(match first {
        Token::Null => Value::Null,
        Token::True => Value::Flag(true),
        Token::False => Value::Flag(false),
        Token::Number(number) => Value::Number(number),
        Token::String(text) => Value::Text(text),
        Token::BeginObject => {
            let mut members = Vec::new();
            while let Token::Name(name) = token(reader)? {
                let first = token(reader)?;
                members.push((name, value(first, reader)?));
            }
            Value::Object(Object(members))
        }
        Token::BeginArray => {
            let mut list = Vec::new();
            loop {
                match token(reader)? {
                    Token::EndArray => break Value::List(list),
                    first => list.push(value(first, reader)?),
                }
            }
        }
        Token::EndArray | Token::EndObject | Token::Name(_) => return Err(NOT_AN_OBJECT),
    })
}

fn token<'a>(reader: &mut Reader<'a>) -> Result<Token<'a>, Malformed> {
    reader.next_token().ok().flatten().ok_or(NOT_AN_OBJECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T: std::fmt::Debug>(result: Result<T, Malformed>) -> String {
        result.unwrap_err().message()
    }

    #[test]
    fn fields_are_taken_once_and_the_rest_is_refused() {
        let mut request = read(r#"{"a":"x","b":15,"c":null,"d":[["h","v"]]}"#).unwrap();
        assert_eq!(request.text("a").unwrap(), "x");
        assert_eq!(request.milliseconds("b").unwrap(), 15);
        assert_eq!(request.nullable_text("c").unwrap(), None);
        assert_eq!(message(request.text("a")), "malformed request: 'a' is not there");
        assert_eq!(
            message(request.end()),
            "malformed request: 'a field' is not known, or stands there twice"
        );
    }

    #[test]
    fn a_name_that_stands_there_twice_is_refused_in_either_spelling() {
        let mut request = read(r#"{"a":"x","\u0061":"y"}"#).unwrap();
        assert_eq!(request.text("a").unwrap(), "x");
        assert!(request.end().is_err());
    }

    #[test]
    fn null_is_neither_absent_nor_a_number() {
        let mut request = read(r#"{"tolerance":null}"#).unwrap();
        assert_eq!(
            message(request.optional_milliseconds("tolerance")),
            "malformed request: 'tolerance' is not a number"
        );
        assert_eq!(request.optional_milliseconds("tolerance").unwrap(), None);
    }

    #[test]
    fn a_number_becomes_whole_milliseconds() {
        let numbers = [
            ("1760000000000", 1_760_000_000_000),
            ("0.9", 0),
            ("1500.7", 1500),
            ("-3", 0),
            ("-1e300", 0),
            ("1e-7", 0),
            ("1e+21", u64::MAX),
            ("99999999999999999999", u64::MAX),
        ];
        for (text, milliseconds) in numbers {
            assert_eq!(
                read(&format!("{{\"n\":{text}}}")).unwrap().milliseconds("n").unwrap(),
                milliseconds,
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_one_json_object_is_refused() {
        for text in ["", "null", "[]", "{", "{}x", "{\"a\":}", "{\"a\":1,}", "\u{0}"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000))).is_err());
    }

    #[test]
    fn headers_are_pairs() {
        let headers = |text: &str| read(&format!("{{\"headers\":{text}}}")).unwrap().headers();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            headers(r#"[["a","1"],["a","2"]]"#).unwrap(),
            [pair("a", "1"), pair("a", "2")]
        );
        for text in [
            r#"{"a":"1"}"#,
            r#"["a"]"#,
            r#"[["a"]]"#,
            r#"[["a","b","c"]]"#,
            r#"[["a",1]]"#,
            r#"[["a","\ud800"]]"#,
        ] {
            assert!(headers(text).is_err(), "{text}");
        }
    }
}
