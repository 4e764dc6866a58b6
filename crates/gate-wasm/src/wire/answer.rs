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

    pub(crate) fn text(mut self, name: &str, value: &str) -> Self {
        self.begin(name);
        quote(&mut self.0, value);
        self
    }

    /// A text or `null`.
    pub(crate) fn nullable_text(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self.literal(name, "null"),
        }
    }

    pub(crate) fn flag(self, name: &str, value: bool) -> Self {
        self.literal(name, if value { "true" } else { "false" })
    }

    pub(crate) fn number(self, name: &str, value: u64) -> Self {
        self.literal(name, &value.to_string())
    }

    /// A number or `null`.
    pub(crate) fn nullable_number(self, name: &str, value: Option<u64>) -> Self {
        match value {
            Some(value) => self.number(name, value),
            None => self.literal(name, "null"),
        }
    }

    pub(crate) fn texts<'a>(mut self, name: &str, values: impl Iterator<Item = &'a str>) -> Self {
        self.begin(name);
        self.0.push('[');
        for (at, value) in values.enumerate() {
            if at > 0 {
                self.0.push(',');
            }
            quote(&mut self.0, value);
        }
        self.0.push(']');
        self
    }

    pub(crate) fn object(self, name: &str, value: Self) -> Self {
        self.literal(name, &value.end())
    }

    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    /// JSON as it stands.
    fn literal(mut self, name: &str, json: &str) -> Self {
        self.begin(name);
        self.0.push_str(json);
        self
    }

    fn begin(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        quote(&mut self.0, name);
        self.0.push(':');
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
