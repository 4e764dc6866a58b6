//! What is left out of a canonical form: JSON pointers (RFC 6901), followed while the text is read.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::RawString;
use crate::vocabulary::{ConfigurationCode, Refusal};

/// Parsed pointers.
#[derive(Debug)]
pub(super) struct Exclusions {
    pointers: Vec<Vec<Segment>>,
}

/// One step of a pointer.
#[derive(Debug)]
struct Segment {
    /// Name of a member, unescaped.
    name: String,
    element: Element,
}

/// The same step where the container is an array.
#[derive(Debug, PartialEq, Eq)]
enum Element {
    /// This one, from 0.
    At(u64),
    /// `*`: every one. Not in RFC 6901, where `*` cannot name an element of an array at all.
    Every,
    /// None: it is not an index.
    Never,
}

impl Exclusions {
    /// Reads the texts of the pointers.
    pub(super) fn parse(texts: &[String]) -> Result<Self, Refusal> {
        let mut pointers = Vec::new();
        for text in texts {
            pointers.push(pointer(text).ok_or_else(|| invalid(text))?);
        }
        Ok(Self { pointers })
    }

    /// Starts at the top of a document.
    pub(super) fn walk(&self) -> Walk<'_> {
        Walk {
            pointers: &self.pointers,
            here: Vec::new(),
            starts: Vec::new(),
            next: (0..self.pointers.len()).collect(),
        }
    }
}

fn pointer(text: &str) -> Option<Vec<Segment>> {
    // The empty pointer is the whole document: nothing would be left to tell events apart.
    let mut segments = Vec::new();
    for text in text.strip_prefix('/')?.split('/') {
        segments.push(segment(text)?);
    }
    Some(segments)
}

fn segment(text: &str) -> Option<Segment> {
    let mut pieces = text.split('~');
    let mut name = pieces.next()?.to_owned();
    for piece in pieces {
        let (escaped, rest) = piece.split_at_checked(1)?;
        name.push(match escaped {
            "0" => '~',
            "1" => '/',
            _ => return None,
        });
        name.push_str(rest);
    }
    let is_index = text == "0" || (!text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()));
    let element = match text {
        "*" => Element::Every,
        _ if is_index => text.parse::<u64>().map_or(Element::Never, Element::At),
        _ => Element::Never,
    };
    Some(Segment { name, element })
}

fn invalid(text: &str) -> Refusal {
    Refusal::misconfigured(
        ConfigurationCode::PointerInvalid,
        format!("'{text}' is not a field that can be ignored"),
        "Write it as a JSON pointer, for example /sent_at or /data/attempt; a ~ in a name is written ~0, a / is written ~1.",
    )
}

/// The way through a document, with the pointers that may still apply.
pub(super) struct Walk<'e> {
    pointers: &'e [Vec<Segment>],
    /// Pointers that lead into the open containers, one group for each container.
    here: Vec<usize>,
    /// Where the groups start.
    starts: Vec<usize>,
    /// Pointers that lead into the value that comes next.
    next: Vec<usize>,
}

impl Walk<'_> {
    /// The value of this member comes next. True where it is left out.
    pub(super) fn member(&mut self, name: RawString<'_>) -> bool {
        self.step(|segment| name.is(&segment.name))
    }

    /// This element of an array comes next. True where it is left out.
    pub(super) fn element(&mut self, index: usize) -> bool {
        self.step(|segment| match segment.element {
            Element::At(at) => usize::try_from(at) == Ok(index),
            Element::Every => true,
            Element::Never => false,
        })
    }

    /// The value that came is a container.
    pub(super) fn open(&mut self) {
        self.starts.push(self.here.len());
        self.here.append(&mut self.next);
    }

    /// A container ends.
    pub(super) fn close(&mut self) {
        self.here.truncate(self.starts.pop().unwrap_or(0));
    }

    fn step(&mut self, matches: impl Fn(&Segment) -> bool) -> bool {
        self.next.clear();
        let Some(depth) = self.starts.len().checked_sub(1) else {
            return false;
        };
        let start = self.starts.last().copied().unwrap_or(0);
        for &candidate in self.here.get(start..).unwrap_or_default() {
            let Some(pointer) = self.pointers.get(candidate) else {
                continue;
            };
            if !pointer.get(depth).is_some_and(&matches) {
                continue;
            }
            if pointer.len() == depth.saturating_add(1) {
                self.next.clear();
                return true;
            }
            self.next.push(candidate);
        }
        false
    }
}
