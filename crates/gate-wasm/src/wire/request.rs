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
    let request = match token(&mut reader)? {
        Token::BeginObject => object(&mut reader)?,
        _ => return Err(malformed("the request is not an object")),
    };
    match reader.next_token() {
        Ok(None) => Ok(request),
        _ => Err(malformed("something stands behind the request")),
    }
}

impl<'a> Object<'a> {
    pub(crate) fn text(&mut self, name: &str) -> Result<String, Malformed> {
        self.required(name)?.into_text(name)
    }

    /// A text or `null`.
    pub(crate) fn nullable_text(&mut self, name: &str) -> Result<Option<String>, Malformed> {
        match self.required(name)? {
            Value::Null => Ok(None),
            value => value.into_text(name).map(Some),
        }
    }

    /// A text that has to be one of some words.
    pub(crate) fn word<T>(&mut self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, Malformed> {
        parse(&self.text(name)?).ok_or_else(|| wrong(name, "a word of the vocabulary"))
    }

    /// As [`word`](Self::word), or `null`.
    pub(crate) fn nullable_word<T>(
        &mut self,
        name: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Malformed> {
        let text = self.nullable_text(name)?;
        text.map(|text| parse(&text).ok_or_else(|| wrong(name, "a word of the vocabulary")))
            .transpose()
    }

    pub(crate) fn number(&mut self, name: &str) -> Result<f64, Malformed> {
        self.required(name)?.into_number(name)
    }

    /// A number or `null`.
    pub(crate) fn nullable_number(&mut self, name: &str) -> Result<Option<f64>, Malformed> {
        match self.required(name)? {
            Value::Null => Ok(None),
            value => value.into_number(name).map(Some),
        }
    }

    /// A number, or nothing at all. `null` is no number: `JSON.stringify` writes NaN as `null`, and that must not turn into a
    /// default.
    pub(crate) fn optional_number(&mut self, name: &str) -> Result<Option<f64>, Malformed> {
        self.take(name).map(|value| value.into_number(name)).transpose()
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, Malformed> {
        match self.required(name)? {
            Value::Flag(flag) => Ok(flag),
            _ => Err(wrong(name, "true or false")),
        }
    }

    pub(crate) fn object(&mut self, name: &str) -> Result<Object<'a>, Malformed> {
        self.required(name)?.into_object(name)
    }

    /// An object, or nothing at all.
    pub(crate) fn optional_object(&mut self, name: &str) -> Result<Option<Object<'a>>, Malformed> {
        self.take(name).map(|value| value.into_object(name)).transpose()
    }

    pub(crate) fn list(&mut self, name: &str) -> Result<Vec<Value<'a>>, Malformed> {
        match self.required(name)? {
            Value::List(list) => Ok(list),
            _ => Err(wrong(name, "a list")),
        }
    }

    pub(crate) fn texts(&mut self, name: &str) -> Result<Vec<String>, Malformed> {
        self.list(name)?
            .into_iter()
            .map(|value| value.into_text(name))
            .collect()
    }

    /// Pairs of name and value.
    pub(crate) fn headers(&mut self) -> Result<Vec<(String, String)>, Malformed> {
        const NAME: &str = "headers";
        let pair = |value| match value {
            Value::List(pair) => {
                let [name, value] = <[Value<'_>; 2]>::try_from(pair).map_err(|_| wrong(NAME, "a list of pairs"))?;
                Ok((name.into_text(NAME)?, value.into_text(NAME)?))
            }
            _ => Err(wrong(NAME, "a list of pairs")),
        };
        self.list(NAME)?.into_iter().map(pair).collect()
    }

    /// Refuses what was not asked for, and a field that stands there twice.
    pub(crate) fn end(self) -> Result<(), Malformed> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(Malformed(
                ["malformed request: unknown field '", name.raw(), "'"].concat(),
            )),
        }
    }

    fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let at = self.0.iter().position(|(given, _)| given.is(name))?;
        Some(self.0.swap_remove(at).1)
    }

    fn required(&mut self, name: &str) -> Result<Value<'a>, Malformed> {
        self.take(name).ok_or_else(|| wrong(name, "there"))
    }
}

impl<'a> Value<'a> {
    /// JavaScript allows half a surrogate pair in a text; no such thing comes from HTTP or from settings.
    fn into_text(self, name: &str) -> Result<String, Malformed> {
        match self {
            Value::Text(text) => text
                .decode()
                .map(Into::into)
                .ok_or_else(|| wrong(name, "well-formed text")),
            _ => Err(wrong(name, "a text")),
        }
    }

    fn into_number(self, name: &str) -> Result<f64, Malformed> {
        match self {
            Value::Number(number) => number.parse().map_err(|_| wrong(name, "a number")),
            _ => Err(wrong(name, "a number")),
        }
    }

    fn into_object(self, name: &str) -> Result<Object<'a>, Malformed> {
        match self {
            Value::Object(object) => Ok(object),
            _ => Err(wrong(name, "an object")),
        }
    }
}

/// Says what a field should be. Never quotes what it is.
pub(crate) fn wrong(name: &str, wanted: &str) -> Malformed {
    Malformed(["malformed request: '", name, "' is not ", wanted].concat())
}

/// The depth of the recursion is bounded by the reader, which refuses more than 128 levels.
fn value<'a>(first: Token<'a>, reader: &mut Reader<'a>) -> Result<Value<'a>, Malformed> {
    Ok(match first {
        Token::Null => Value::Null,
        Token::True => Value::Flag(true),
        Token::False => Value::Flag(false),
        Token::Number(number) => Value::Number(number),
        Token::String(text) => Value::Text(text),
        Token::BeginObject => Value::Object(object(reader)?),
        Token::BeginArray => {
            let mut list = Vec::new();
            loop {
                match token(reader)? {
                    Token::EndArray => break Value::List(list),
                    first => list.push(value(first, reader)?),
                }
            }
        }
        Token::EndArray | Token::EndObject | Token::Name(_) => return Err(malformed("a value is missing")),
    })
}

fn object<'a>(reader: &mut Reader<'a>) -> Result<Object<'a>, Malformed> {
    let mut members = Vec::new();
    while let Token::Name(name) = token(reader)? {
        let first = token(reader)?;
        members.push((name, value(first, reader)?));
    }
    Ok(Object(members))
}

fn token<'a>(reader: &mut Reader<'a>) -> Result<Token<'a>, Malformed> {
    match reader.next_token() {
        Ok(Some(token)) => Ok(token),
        Ok(None) | Err(_) => Err(malformed("it is not JSON")),
    }
}

fn malformed(what: &str) -> Malformed {
    Malformed(["malformed request: ", what].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T: std::fmt::Debug>(result: Result<T, Malformed>) -> String {
        result.unwrap_err().0
    }

    #[test]
    fn fields_are_taken_once_and_the_rest_is_refused() {
        let mut request = read(r#"{"a":"x","b":1.5,"c":null,"d":[["h","v"]]}"#).unwrap();
        assert_eq!(request.text("a").unwrap(), "x");
        assert!((request.number("b").unwrap() - 1.5).abs() < f64::EPSILON);
        assert_eq!(request.nullable_text("c").unwrap(), None);
        assert_eq!(message(request.text("a")), "malformed request: 'a' is not there");
        assert_eq!(message(request.end()), "malformed request: unknown field 'd'");
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
            message(request.optional_number("tolerance")),
            "malformed request: 'tolerance' is not a number"
        );
        assert_eq!(request.optional_number("tolerance").unwrap(), None);
    }

    #[test]
    fn what_is_not_one_json_object_is_refused() {
        for text in ["", "null", "[]", "{", "{}x", "{\"a\":}", "{\"a\":1,}", "\u{0}"] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&format!("{{\"a\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000))).is_err());
    }
}
