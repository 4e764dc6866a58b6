//! Writing an answer: JSON text, field by field, in the order given.

use alloc::string::{String, ToString};

/// An object that is being written.
#[derive(Debug)]
pub(crate) struct Answer(String);

impl Answer {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    /// An object whose first field is `type`.
    pub(crate) fn of_type(name: &str) -> Self {
        let mut answer = Self::new();
        answer.text("type", name);
        answer
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) -> &mut Self {
        self.begin(name);
        quote(&mut self.0, value);
        self
    }

    /// A text or `null`.
    pub(crate) fn nullable_text(&mut self, name: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.text(name, value),
            None => self.literal(name, "null"),
        }
    }

    pub(crate) fn flag(&mut self, name: &str, value: bool) -> &mut Self {
        self.literal(name, if value { "true" } else { "false" })
    }

    pub(crate) fn number(&mut self, name: &str, value: u64) -> &mut Self {
        self.literal(name, &value.to_string())
    }

    /// A number or `null`.
    pub(crate) fn nullable_number(&mut self, name: &str, value: Option<u64>) -> &mut Self {
        match value {
            Some(value) => self.number(name, value),
            None => self.literal(name, "null"),
        }
    }

    pub(crate) fn texts<'a>(&mut self, name: &str, values: impl Iterator<Item = &'a str>) -> &mut Self {
        let mut list = String::from("[");
        for value in values {
            if list.len() > 1 {
                list.push(',');
            }
            quote(&mut list, value);
        }
        list.push(']');
        self.literal(name, &list)
    }

    pub(crate) fn object(&mut self, name: &str, value: &mut Self) -> &mut Self {
        self.literal(name, &value.end())
    }

    /// The text; nothing of it stays.
    pub(crate) fn end(&mut self) -> String {
        self.0.push('}');
        core::mem::take(&mut self.0)
    }

    /// JSON as it stands.
    fn literal(&mut self, name: &str, json: &str) -> &mut Self {
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
pub(crate) fn list(objects: impl Iterator<Item = String>) -> String {
    let mut json = String::from("[");
    for object in objects {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&object);
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
        let mut inner = Answer::new();
        inner.text("q\"", "a\\\n\u{1f}é\u{1f600}");
        let text = Answer::of_type("x")
            .number("n", u64::MAX)
            .nullable_number("none", None)
            .nullable_text("t", None)
            .flag("f", false)
            .texts("l", ["a", "b"].into_iter())
            .object("o", &mut inner)
            .end();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        let meant = serde_json::json!({
            "type": "x", "n": u64::MAX, "none": null, "t": null, "f": false, "l": ["a", "b"],
            "o": {"q\"": "a\\\n\u{1f}é\u{1f600}"},
        });
        assert_eq!(read, meant);
        assert_eq!(
            list([Answer::new().end(), Answer::new().flag("a", true).end()].into_iter()),
            r#"[{},{"a":true}]"#
        );
    }
}
