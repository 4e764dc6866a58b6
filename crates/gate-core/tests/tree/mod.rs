//! JSON values to try things on: made up, written in any layout, and read back by other means than the code under test.

use proptest::prelude::*;
use serde_json::Value;

/// A JSON value whose numbers are the texts they were written as.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

/// How a value is written: order of members, white space, escapes. A seed for a small generator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout(pub(crate) u64);

pub(crate) fn any_layout() -> impl Strategy<Value = Layout> {
    any::<u64>().prop_map(Layout)
}

/// Spellings of few values, so that equal ones are frequent, and of any value.
pub(crate) fn any_number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|1|10|100)(\\.0{1,2})?([eE][+-]?[0-2])?",
        "-?[1-9][0-9]{14,24}(\\.[0-9]{1,4})?",
        "-?0\\.[0-9]{1,20}(e-?[0-9]{1,3})?",
        "-?[1-9](\\.[0-9]{1,18})?[eE][+-]?[0-9]{1,4}",
        any::<i64>().prop_map(|integer| integer.to_string()),
    ]
}

pub(crate) fn any_tree() -> impl Strategy<Value = Tree> {
    let text = prop_oneof![
        "[a-c]{0,2}",
        any::<String>(),
        "[\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}\"\\\\\n\u{7f}]{0,3}"
    ];
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        // Only such numbers as a double holds; the RFC refuses others.
        any_number()
            .prop_filter("overflows", |text| text.parse().is_ok_and(f64::is_finite))
            .prop_map(Tree::Number),
        text.clone().prop_map(Tree::String),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        let members = proptest::collection::btree_map(text.clone(), inner.clone(), 0..5);
        prop_oneof![
            proptest::collection::vec(inner, 0..5).prop_map(Tree::Array),
            members.prop_map(|members| Tree::Object(members.into_iter().collect())),
        ]
    })
}

impl Tree {
    /// As JSON text.
    pub(crate) fn render(&self, layout: Layout) -> String {
        let mut text = String::new();
        self.write(&mut Dice(layout.0), &mut text);
        text
    }

    /// Reads JSON without any code under test. `serde_json` would round numbers, so they are put in quotes first.
    pub(crate) fn read(text: &str) -> Self {
        let parsed: Value = serde_json::from_str(&quote_numbers(text)).unwrap();
        Self::from_value(&parsed)
    }

    /// With sorted members and numbers in one spelling, as [`read`](Self::read) makes them.
    pub(crate) fn normal(&self) -> Self {
        match self {
            Self::Number(text) => Self::Number(number(text)),
            Self::Array(elements) => Self::Array(elements.iter().map(Self::normal).collect()),
            Self::Object(members) => {
                let mut members: Vec<_> = members
                    .iter()
                    .map(|(name, value)| (name.clone(), value.normal()))
                    .collect();
                members.sort();
                Self::Object(members)
            }
            other => other.clone(),
        }
    }

    fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(_) => unreachable!("all numbers are in quotes"),
            Value::String(text) => match text.strip_prefix(NUMBER) {
                Some(literal) => Self::Number(number(literal)),
                None => Self::String(text.strip_prefix(TEXT).unwrap().to_owned()),
            },
            Value::Array(elements) => Self::Array(elements.iter().map(Self::from_value).collect()),
            Value::Object(members) => {
                let name = |text: &String| text.strip_prefix(TEXT).unwrap().to_owned();
                let mut members: Vec<_> = members
                    .iter()
                    .map(|(text, value)| (name(text), Self::from_value(value)))
                    .collect();
                members.sort();
                Self::Object(members)
            }
        }
    }

    fn write(&self, dice: &mut Dice, text: &mut String) {
        dice.white_space(text);
        match self {
            Self::Null => text.push_str("null"),
            Self::Bool(truth) => text.push_str(if *truth { "true" } else { "false" }),
            Self::Number(literal) => text.push_str(literal),
            Self::String(string) => write_string(string, dice, text),
            Self::Array(elements) => {
                text.push('[');
                for (at, element) in elements.iter().enumerate() {
                    text.push_str(if at == 0 { "" } else { "," });
                    element.write(dice, text);
                }
                text.push(']');
            }
            Self::Object(members) => {
                text.push('{');
                let mut members: Vec<_> = members.iter().map(|member| (dice.roll(), member)).collect();
                members.sort_by_key(|(order, _)| *order);
                for (at, (_, (name, value))) in members.iter().enumerate() {
                    text.push_str(if at == 0 { "" } else { "," });
                    dice.white_space(text);
                    write_string(name, dice, text);
                    dice.white_space(text);
                    text.push(':');
                    value.write(dice, text);
                }
                text.push('}');
            }
        }
        dice.white_space(text);
    }
}

/// A number as sign, digits and exponent without zeros at the ends: equal exactly when the numbers are.
pub(crate) fn number(literal: &str) -> String {
    let lower = literal.to_ascii_lowercase();
    let (mantissa, exponent) = lower.split_once('e').unwrap_or((&lower, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut exponent: i64 = exponent.parse().unwrap();
    exponent -= i64::try_from(fraction.len()).unwrap();
    let mut digits = format!("{whole}{fraction}").replace('-', "");
    while digits.len() > 1 && digits.ends_with('0') {
        digits.pop();
        exponent += 1;
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return "0".to_owned();
    }
    let sign = if literal.starts_with('-') { "-" } else { "" };
    format!("{sign}{digits}e{exponent}")
}

const NUMBER: &str = "n";
const TEXT: &str = "t";

/// Numbers become strings; a letter at the front of each string says which it was.
fn quote_numbers(text: &str) -> String {
    let mut quoted = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            let end = end.unwrap() + 2;
            quoted.extend(["\"", TEXT, &rest[1..end]]);
            rest = &rest[end..];
        } else if first == '-' || first.is_ascii_digit() {
            let end = rest
                .find(|c: char| !"+-.eE0123456789".contains(c))
                .unwrap_or(rest.len());
            quoted.extend(["\"", NUMBER, &rest[..end], "\""]);
            rest = &rest[end..];
        } else {
            quoted.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    quoted
}

fn write_string(string: &str, dice: &mut Dice, text: &mut String) {
    text.push('"');
    for character in string.chars() {
        let must_escape = matches!(character, '"' | '\\' | '\0'..='\u{1f}');
        if must_escape || dice.roll().is_multiple_of(8) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let hex = format!("\\u{unit:04x}");
                let upper = format!("\\u{unit:04X}");
                text.push_str(if dice.roll().is_multiple_of(2) { &hex } else { &upper });
            }
        } else {
            text.push(character);
        }
    }
    text.push('"');
}

/// `SplitMix64`: enough to vary a layout, and the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn white_space(&mut self, text: &mut String) {
        text.push_str(["", "", "", " ", "\n", "\t \r\n"][usize::try_from(self.roll() % 6).unwrap()]);
    }
}
