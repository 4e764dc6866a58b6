//! A few values of a large body, without keeping the rest.

use alloc::vec::Vec;

use super::{JsonError, RawString, Reader, Token};

/// What stands at a path.
#[derive(Clone, Copy, Debug, Default)]
pub enum Found<'a> {
    /// Nothing.
    #[default]
    Absent,
    /// `null`.
    Null,
    /// A name of the path stands twice in its object: which one counts is a matter of taste.
    Repeated,
    /// A string.
    String(RawString<'a>),
    /// A number, as it was written.
    Number(&'a str),
    /// A truth value, an object or an array.
    Other,
}

/// Finds the values at some paths of member names from the top; arrays are never entered. The whole text is checked.
///
/// What is not on a path only has to be well formed: a name that stands twice elsewhere, or half of a surrogate pair in
/// some comment's text, must not cost an event its id.
///
/// # Errors
/// [`Fault::Syntax`](super::Fault::Syntax) or [`Fault::TooDeep`](super::Fault::TooDeep).
pub fn extract<'a>(text: &'a str, paths: &[&[&str]]) -> Result<Vec<Found<'a>>, JsonError> {
    let mut searches: Vec<_> = paths.iter().map(|path| Search::new(path)).collect();
    let mut reader = Reader::new(text);
    while let Some(token) = reader.next_token()? {
        for search in &mut searches {
            search.see(token, reader.depth());
        }
    }
    Ok(searches.into_iter().map(|search| search.found).collect())
}

/// One path, and how far it has been walked.
struct Search<'a, 'p> {
    path: &'p [&'p str],
    /// Names of the path that lead to the innermost open object on it.
    walked: usize,
    /// The next value belongs to the name at `walked`.
    at_name: bool,
    /// Names of the path seen so far. Each stands in one object only, so seeing one again is a repetition.
    seen: usize,
    found: Found<'a>,
}

impl<'a, 'p> Search<'a, 'p> {
    fn new(path: &'p [&'p str]) -> Self {
        Self {
            path,
            walked: 0,
            at_name: false,
            seen: 0,
            found: Found::Absent,
        }
    }

    /// `depth`: how many containers are open after the token.
    fn see(&mut self, token: Token<'a>, depth: usize) {
        match token {
            Token::Name(name) => self.name(name, depth),
            Token::EndObject | Token::EndArray => self.walked = self.walked.min(depth.saturating_sub(1)),
            _ if self.at_name => self.value(token),
            _ => {}
        }
    }

    fn name(&mut self, name: RawString<'a>, depth: usize) {
        let here = self.walked;
        let on_path = depth == here.saturating_add(1) && self.path.get(here).is_some_and(|wanted| name.is(wanted));
        if !on_path {
            return;
        }
        if self.seen > here {
            self.found = Found::Repeated;
        }
        self.seen = self.seen.max(here.saturating_add(1));
        self.at_name = true;
    }

    fn value(&mut self, token: Token<'a>) {
        self.at_name = false;
        let next = self.walked.saturating_add(1);
        if next < self.path.len() {
            if matches!(token, Token::BeginObject) {
                self.walked = next;
            }
            return;
        }
        if matches!(self.found, Found::Repeated) {
            return;
        }
        self.found = match token {
            Token::String(text) => Found::String(text),
            Token::Number(text) => Found::Number(text),
            Token::Null => Found::Null,
            _ => Found::Other,
        };
    }
}
