//! Reading a request: JSON text by the core's own strict reader, then field by field. What is left over is refused.

use alloc::string::String;
use alloc::vec::Vec;

use alloc::borrow::Cow;

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

/// An object that is taken apart. Every known field is taken once; what is wrong comes out at the [`end`](Self::end), and
/// until then a field that is wrong reads as an empty one.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    members: Vec<(RawString<'a>, Value<'a>)>,
    fault: Option<Malformed>,
}

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
    pub(crate) fn text(&mut self, name: &'static str) -> String {
        let value = self.take(name);
        self.checked(name, value.and_then(Value::into_text)).unwrap_or_default()
    }

    /// A text or `null`.
    pub(crate) fn nullable_text(&mut self, name: &'static str) -> Option<String> {
        match self.take(name) {
            Some(Value::Null) => None,
            value => self.checked(name, value.and_then(Value::into_text)),
        }
    }

    /// A text that has to be one of some words. `None` only where the request will turn out to be malformed.
    pub(crate) fn word<T>(&mut self, name: &'static str, parse: fn(&str) -> Option<T>) -> Option<T> {
        let word = parse(&self.text(name));
        self.checked(name, word)
    }

    /// As [`word`](Self::word), or `null`.
    pub(crate) fn nullable_word<T>(&mut self, name: &'static str, parse: fn(&str) -> Option<T>) -> Option<T> {
        let word = parse(&self.nullable_text(name)?);
        self.checked(name, word)
    }

    /// Whole milliseconds from a JavaScript number. Negative ones become 0, too large ones the largest.
    pub(crate) fn milliseconds(&mut self, name: &'static str) -> u64 {
        let value = self.take(name);
        self.checked(name, value.and_then(Value::into_milliseconds))
            .unwrap_or_default()
    }

    /// As [`milliseconds`](Self::milliseconds), or `null`.
    pub(crate) fn nullable_milliseconds(&mut self, name: &'static str) -> Option<u64> {
        match self.take(name) {
            Some(Value::Null) => None,
            value => self.checked(name, value.and_then(Value::into_milliseconds)),
        }
    }

    /// As [`milliseconds`](Self::milliseconds), or nothing at all. `null` is no number: `JSON.stringify` writes NaN as `null`,
    /// and that must not turn into a default.
    pub(crate) fn optional_milliseconds(&mut self, name: &'static str) -> Option<u64> {
        let value = self.take(name)?;
        self.checked(name, value.into_milliseconds())
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> bool {
        let flag = if let Some(Value::Flag(flag)) = self.take(name) {
            Some(flag)
        } else {
            None
        };
        self.checked(name, flag).unwrap_or_default()
    }

    pub(crate) fn object(&mut self, name: &'static str) -> Option<Object<'a>> {
        let object = if let Some(Value::Object(object)) = self.take(name) {
            Some(object)
        } else {
            None
        };
        self.checked(name, object)
    }

    /// True where there is such a field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(given, _)| given.is(name))
    }

    pub(crate) fn list(&mut self, name: &'static str) -> Vec<Value<'a>> {
        let value = self.take(name);
        self.checked(name, value.and_then(Value::into_list)).unwrap_or_default()
    }

    pub(crate) fn texts(&mut self, name: &'static str) -> Vec<String> {
        let mut texts = Vec::new();
        for value in self.list(name) {
            texts.extend(self.checked(name, value.into_text()));
        }
        texts
    }

    /// Pairs of name and value.
    pub(crate) fn headers(&mut self) -> Vec<(String, String)> {
        const NAME: &str = "headers";
        let mut headers = Vec::new();
        for value in self.list(NAME) {
            headers.extend(self.checked(NAME, value.into_pair()));
        }
        headers
    }

    /// What is wrong, where something is: also what was not asked for, and a field that stands there twice.
    pub(crate) fn end(&self) -> Result<(), Malformed> {
        match self.fault {
            Some(fault) => Err(fault),
            None if self.members.is_empty() => Ok(()),
            None => Err(UNKNOWN_FIELD),
        }
    }

    fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let at = self.members.iter().position(|(given, _)| given.is(name))?;
        Some(self.members.swap_remove(at).1)
    }

    fn checked<T>(&mut self, name: &'static str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.fault = self.fault.or(Some(Malformed { field: name }));
        }
        value
    }
}

impl<'a> Value<'a> {
    /// JavaScript allows half a surrogate pair in a text; no such thing comes from HTTP or from settings.
    fn into_text(self) -> Option<String> {
        if let Value::Text(text) = self {
            text.decode().map(Cow::into_owned)
        } else {
            None
        }
    }

    fn into_list(self) -> Option<Vec<Value<'a>>> {
        if let Value::List(list) = self { Some(list) } else { None }
    }

    fn into_pair(self) -> Option<(String, String)> {
        let mut list = self.into_list()?;
        let second = list.pop()?.into_text()?;
        let first = list.pop()?.into_text()?;
        list.is_empty().then_some((first, second))
    }

    /// JavaScript writes an exponent from 1e21 on, and below 1e-6.
    fn into_milliseconds(self) -> Option<u64> {
        let Value::Number(number) = self else { return None };
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, ""));
        let whole = mantissa.split_once('.').map_or(mantissa, |(whole, _)| whole);
        Some(match exponent {
            _ if whole.starts_with('-') => 0,
            "" => whole.parse().unwrap_or(u64::MAX),
            _ if exponent.starts_with('-') => 0,
            _ => u64::MAX,
        })
    }
}

const NOT_AN_OBJECT: Malformed = Malformed { field: "the request" };

/// Not asked for, or standing there twice.
const UNKNOWN_FIELD: Malformed = Malformed { field: "a field" };

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
            Value::Object(Object { members, fault: None })
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

    /// The field that is wrong, if one is.
    fn fault(request: &Object<'_>) -> Option<&'static str> {
        request.end().err().map(|malformed| malformed.field)
    }

    #[test]
    fn fields_are_taken_once_and_the_rest_is_refused() {
        let mut request = read(r#"{"a":"x","b":15,"c":null,"headers":[["h","v"]]}"#).unwrap();
        assert_eq!(request.text("a"), "x");
        assert_eq!(request.milliseconds("b"), 15);
        assert_eq!(request.nullable_text("c"), None);
        assert_eq!(fault(&request), Some("a field"));
        assert_eq!(request.headers(), [("h".to_owned(), "v".to_owned())]);
        assert_eq!(fault(&request), None);
        request.text("a");
        assert_eq!(fault(&request), Some("a"));
    }

    #[test]
    fn the_first_fault_is_the_one_that_is_told() {
        let mut request = read(r#"{"a":1,"b":"x"}"#).unwrap();
        assert_eq!(
            (request.text("a"), request.milliseconds("b"), request.flag("c")),
            (String::new(), 0, false)
        );
        assert_eq!(fault(&request), Some("a"));
    }

    #[test]
    fn a_name_that_stands_there_twice_is_refused_in_either_spelling() {
        let mut request = read(r#"{"a":"x","\u0061":"y"}"#).unwrap();
        assert_eq!(request.text("a"), "x");
        assert_eq!(fault(&request), Some("a field"));
    }

    #[test]
    fn null_is_neither_absent_nor_a_number() {
        let mut absent = read("{}").unwrap();
        assert_eq!((absent.optional_milliseconds("n"), fault(&absent)), (None, None));
        let mut null = read(r#"{"n":null}"#).unwrap();
        assert_eq!((null.optional_milliseconds("n"), fault(&null)), (None, Some("n")));
        let mut missing = read("{}").unwrap();
        assert_eq!((missing.nullable_milliseconds("n"), fault(&missing)), (None, Some("n")));
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
                read(&format!("{{\"n\":{text}}}")).unwrap().milliseconds("n"),
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
        let wrong = [
            r#"{"a":"1"}"#,
            r#"["a"]"#,
            r#"[["a"]]"#,
            r#"[["a","b","c"]]"#,
            r#"[["a",1]]"#,
            r#"[["a","\ud800"]]"#,
        ];
        for text in wrong {
            let text = format!("{{\"headers\":{text}}}");
            let mut request = read(&text).unwrap();
            request.headers();
            assert_eq!(fault(&request), Some("headers"), "{text}");
        }
        let mut twice = read(r#"{"headers":[["a","1"],["a","2"]]}"#).unwrap();
        assert_eq!(twice.headers().len(), 2);
    }
}
