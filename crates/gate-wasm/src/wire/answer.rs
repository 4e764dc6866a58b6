//! Writing an answer: JSON text, field by field, in the order given.

/// An object that is being written.
#[derive(Debug)]
pub(crate) struct Answer(String);

impl Answer {
    /// An object whose first field is `type`.
    pub(crate) fn of_type(name: &str) -> Self {
        Self::new().text("type", name)
    }

    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.field(name, |json| quote(json, value))
    }

    /// A text or `null`.
    pub(crate) fn nullable_text(self, name: &str, value: Option<&str>) -> Self {
        self.field(name, |json| match value {
            Some(value) => quote(json, value),
            None => json.push_str("null"),
        })
    }

    pub(crate) fn flag(self, name: &str, value: bool) -> Self {
        self.field(name, |json| json.push_str(if value { "true" } else { "false" }))
    }

    pub(crate) fn number(self, name: &str, value: u64) -> Self {
        self.nullable_number(name, Some(value))
    }

    /// A number or `null`.
    pub(crate) fn nullable_number(self, name: &str, value: Option<u64>) -> Self {
        self.field(name, |json| {
            json.push_str(&value.map_or_else(|| "null".to_owned(), |value| value.to_string()))
        })
    }

    pub(crate) fn texts<'a>(self, name: &str, values: impl Iterator<Item = &'a str>) -> Self {
        self.field(name, |json| {
            json.push('[');
            for (at, value) in values.enumerate() {
                if at > 0 {
                    json.push(',');
                }
                quote(json, value);
            }
            json.push(']');
        })
    }

    pub(crate) fn object(self, name: &str, value: Self) -> Self {
        self.field(name, |json| json.push_str(&value.end()))
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn field(mut self, name: &str, write: impl FnOnce(&mut String)) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        quote(&mut self.0, name);
        self.0.push(':');
        write(&mut self.0);
        self
    }
}

/// A list of objects.
pub(crate) fn list(answers: impl Iterator<Item = Answer>) -> String {
    let mut json = String::from("[");
    for answer in answers {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&answer.end());
    }
    json.push(']');
    json
}

/// RFC 8259, 7: the quote, the backslash and control characters are escaped, everything else stands for itself.
fn quote(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                json.push('\\');
                json.push(c);
            }
            '\u{0}'..='\u{1f}' => {
                json.push_str("\\u00");
                json.push_str(&gate_core::encoding::to_hex(&[c as u8]));
            }
            _ => json.push(c),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_was_meant() {
        let inner = Answer::new().text("q\"", "a\\\n\u{1f}é\u{1f600}");
        let text = Answer::of_type("x")
            .number("n", u64::MAX)
            .nullable_number("none", None)
            .nullable_text("t", None)
            .flag("f", false)
            .texts("l", ["a", "b"].into_iter())
            .object("o", inner)
            .end();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        let meant = serde_json::json!({
            "type": "x", "n": u64::MAX, "none": null, "t": null, "f": false, "l": ["a", "b"],
            "o": {"q\"": "a\\\n\u{1f}é\u{1f600}"},
        });
        assert_eq!(read, meant);
        assert_eq!(
            list([Answer::new(), Answer::new().flag("a", true)].into_iter()),
            r#"[{},{"a":true}]"#
        );
    }
}
