//! A scheme that the user describes: checked for contradictions, then the same data as a provider of the table.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::scheme::{Algorithm, EmptyBody, Grammar, HeaderFamily, Label, Part, Scheme, TimeUnit, Timestamp};
use crate::encoding::Encoding;
use crate::secret::SecretForm;
use crate::vocabulary::{ConfigurationCode, Refusal};

/// Name of every custom scheme in reports.
pub(super) const NAME: &str = "custom-hmac";

const DEFAULT_TOLERANCE_MS: u64 = 300_000;

/// The user's description.
#[derive(Clone, Debug)]
pub struct CustomScheme {
    /// Header that carries the signature.
    pub signature_header: String,
    /// How the signature is made.
    pub algorithm: Algorithm,
    /// How it is written.
    pub encoding: Encoding,
    /// Text in front of it within the header, e.g. `sha256=`; empty for none.
    pub prefix: String,
    /// Header with the time of sending, if there is one.
    pub timestamp_header: Option<String>,
    /// What one step of that time means.
    pub timestamp_unit: TimeUnit,
    /// Header with the event id, if there is one.
    pub id_header: Option<String>,
    /// The signed text with the placeholders `{body}` (exactly once), `{timestamp}`, `{id}`.
    pub template: String,
    /// How the secret's text becomes the key.
    pub secret: SecretForm,
}

impl CustomScheme {
    /// True where the signature covers the event id in the header.
    #[must_use]
    pub fn id_signed(&self) -> bool {
        self.id_header.is_some() && read_template(&self.template).is_ok_and(|content| content.contains(&Part::Id))
    }

    /// The description as a scheme.
    ///
    /// # Errors
    /// `scheme_invalid` where it contradicts itself or would verify less than it seems to.
    pub fn compile(&self) -> Result<Compiled<'_>, Refusal> {
        self.check_headers()?;
        let content = read_template(&self.template)?;
        self.check_content(&content)?;
        let timestamp = self.timestamp_header.as_deref();
        Ok(Compiled {
            family: HeaderFamily {
                signature: &self.signature_header,
                timestamp,
                id: self.id_header.as_deref(),
            },
            label: Label {
                text: self.prefix.trim_start_matches([' ', '\t']),
                algorithm: self.algorithm,
            },
            encoding: self.encoding,
            timestamp: timestamp.map(|_| Timestamp {
                unit: self.timestamp_unit,
                tolerance_ms: DEFAULT_TOLERANCE_MS,
            }),
            secret: self.secret,
            content,
        })
    }

    fn check_headers(&self) -> Result<(), Refusal> {
        let mut names = vec![("Signature Header", self.signature_header.as_str())];
        names.extend(self.timestamp_header.as_deref().map(|name| ("Timestamp Header", name)));
        names.extend(self.id_header.as_deref().map(|name| ("Event ID Header", name)));
        if let Some((field, _)) = names.iter().find(|(_, name)| !is_header_name(name)) {
            return Err(invalid(
                format!("'{field}' is not the name of a header"),
                "Write one name without a colon, for example X-Signature.",
            ));
        }
        let doubled = names
            .iter()
            .enumerate()
            .any(|(at, (_, name))| names.iter().take(at).any(|(_, other)| name.eq_ignore_ascii_case(other)));
        if doubled {
            return Err(invalid(
                "One header is named for two things",
                "Signature, timestamp and id each need a header of their own.",
            ));
        }
        if self.prefix.chars().any(char::is_control) {
            return Err(invalid(
                "The prefix of the signature holds a control character",
                "Copy it again, for example sha256=.",
            ));
        }
        Ok(())
    }

    fn check_content(&self, content: &[Part<'_>]) -> Result<(), Refusal> {
        let has = |part| content.contains(&part);
        if content.iter().filter(|part| **part == Part::Body).count() != 1 {
            return Err(invalid(
                "The signed text has to contain {body} exactly once",
                "Without it a signature would fit any body. The usual template is {body}.",
            ));
        }
        if has(Part::Timestamp) != self.timestamp_header.is_some() {
            return Err(invalid(
                "'Timestamp Header' and {timestamp} in the signed text need each other",
                "A time that is not signed can be changed by anyone. Fill in both or neither.",
            ));
        }
        if has(Part::Id) && self.id_header.is_none() {
            return Err(invalid(
                "{id} stands in the signed text, but no 'Event ID Header' is set",
                "Name the header that carries the event id.",
            ));
        }
        if !id_ends_at_a_text(content) {
            return Err(invalid(
                "No text parts {id} from {body} in the signed text, right beside {id}",
                "The same signature would fit another id with another body. Check the provider's description for the character between them.",
            ));
        }
        Ok(())
    }
}

/// A description that was found sound.
#[derive(Debug)]
pub struct Compiled<'a> {
    family: HeaderFamily<'a>,
    label: Label<'a>,
    encoding: Encoding,
    timestamp: Option<Timestamp>,
    secret: SecretForm,
    content: Vec<Part<'a>>,
}

impl Compiled<'_> {
    /// The scheme, borrowed.
    #[must_use]
    pub fn scheme(&self) -> Scheme<'_> {
        Scheme {
            name: NAME,
            families: core::slice::from_ref(&self.family),
            grammar: Grammar::Single,
            labels: core::slice::from_ref(&self.label),
            encoding: self.encoding,
            content: &self.content,
            timestamp: self.timestamp,
            secret: self.secret,
            empty_body: EmptyBody::Verify,
        }
    }
}

/// Text outside braces is fixed; a brace that is not part of a placeholder is a typing mistake.
fn read_template(template: &str) -> Result<Vec<Part<'_>>, Refusal> {
    let mut parts = Vec::new();
    let mut rest = template;
    while !rest.is_empty() {
        let (text, from_brace) = rest
            .split_at_checked(rest.find(['{', '}']).unwrap_or(rest.len()))
            .unwrap_or((rest, ""));
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        rest = from_brace;
        if rest.is_empty() {
            break;
        }
        let placeholders = [
            ("{body}", Part::Body),
            ("{timestamp}", Part::Timestamp),
            ("{id}", Part::Id),
        ];
        let found = placeholders
            .into_iter()
            .find_map(|(name, part)| Some((part, rest.strip_prefix(name)?)));
        let Some((part, after)) = found else {
            return Err(invalid(
                "The signed text holds an unknown placeholder",
                "Use {body}, {timestamp} and {id}, and no other braces.",
            ));
        };
        parts.push(part);
        rest = after;
    }
    Ok(parts)
}

/// False where the id could end elsewhere, in the body: side by side with it, or with only a time in between, which a body
/// may hold as well.
fn id_ends_at_a_text(content: &[Part<'_>]) -> bool {
    let body = content.iter().position(|part| *part == Part::Body).unwrap_or_default();
    content.windows(2).enumerate().all(|(at, pair)| match *pair {
        [Part::Text(_), _] | [_, Part::Text(_)] => true,
        [left, right] => !(left == Part::Id && at < body || right == Part::Id && at >= body),
        _ => true,
    })
}

/// A token of RFC 9110, 5.6.2.
fn is_header_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c))
}

fn invalid(message: impl Into<Cow<'static, str>>, help: &'static str) -> Refusal {
    Refusal::misconfigured(ConfigurationCode::SchemeInvalid, message, help)
}

#[cfg(test)]
#[path = "custom_tests.rs"]
mod tests;
