//! The first pass over a text: checks it wholly, and notes where the members of its objects are, sorted. Everything else
//! stays where it is in the body, so memory is a small multiple of the number of members, whatever else is in there.

use alloc::vec::Vec;

use super::exclude::{Exclusions, Walk};
use crate::json::{Fault, JsonError, RawString, Reader, Token};

/// Where to find the members of every object, in canonical order.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    /// In the order in which they begin: whoever follows the text can count along instead of searching.
    objects: Vec<Object>,
    members: Vec<Member<'a>>,
    /// In the order of the text.
    elements_left_out: Vec<LeftOut>,
}

/// An object of the text.
#[derive(Clone, Copy, Debug, Default)]
struct Object {
    /// Its members are those from here...
    first: usize,
    /// ...to before this one.
    last: usize,
    end: End,
}

/// Where a value ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct End {
    /// The byte behind it.
    pub(super) offset: usize,
    /// Number of the next object behind it.
    pub(super) object: usize,
}

/// A member of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'a> {
    pub(super) name: RawString<'a>,
    /// Where its value begins.
    pub(super) value: usize,
    /// Number of the first object in its value, if there is any.
    pub(super) object: usize,
    left_out: bool,
}

/// An element of an array that is left out.
#[derive(Clone, Copy, Debug)]
struct LeftOut {
    start: usize,
    end: End,
}

impl<'a> Index<'a> {
    /// Reads the whole text.
    pub(super) fn build(text: &'a str, exclusions: &Exclusions) -> Result<Self, JsonError> {
        let mut builder = Builder {
            index: Self::default(),
            walk: exclusions.walk(),
            containers: Vec::new(),
            pending: Vec::new(),
        };
        let mut reader = Reader::new(text);
        while let Some(token) = reader.next_token()? {
            builder.see(token, &reader)?;
        }
        Ok(builder.index)
    }

    /// Members of an object that are kept, and where it ends.
    pub(super) fn object(&self, number: usize) -> Option<(&[Member<'a>], End)> {
        let object = self.objects.get(number)?;
        Some((self.members.get(object.first..object.last)?, object.end))
    }

    /// Where the element that begins there ends, if it is left out.
    pub(super) fn element_left_out(&self, start: usize) -> Option<End> {
        let elements = &self.elements_left_out;
        let at = elements.binary_search_by_key(&start, |element| element.start).ok()?;
        elements.get(at).map(|element| element.end)
    }
}

struct Builder<'a, 'e> {
    index: Index<'a>,
    walk: Walk<'e>,
    containers: Vec<Container>,
    /// Members of the open objects, in the order of the text.
    pending: Vec<Member<'a>>,
}

/// An open container.
struct Container {
    kind: Kind,
    /// Where it begins, if it is an element that is left out.
    left_out_from: Option<usize>,
}

enum Kind {
    Object {
        /// Its place among `objects`.
        object: usize,
        /// Its first member among `pending`.
        first: usize,
    },
    Array {
        /// Elements so far.
        elements: usize,
    },
}

impl<'a> Builder<'a, '_> {
    fn see(&mut self, token: Token<'a>, reader: &Reader<'a>) -> Result<(), JsonError> {
        match token {
            Token::Name(name) => self.name(name, reader),
            Token::BeginObject => {
                let first = self.pending.len();
                let object = self.index.objects.len();
                self.open(reader.token_start(), Kind::Object { object, first });
                self.index.objects.push(Object::default());
                Ok(())
            }
            Token::BeginArray => {
                self.open(reader.token_start(), Kind::Array { elements: 0 });
                Ok(())
            }
            Token::EndObject | Token::EndArray => self.close(reader.position()),
            Token::String(text) if text.has_lone_surrogate() => Err(lone_surrogate(reader)),
            Token::String(_) | Token::Number(_) | Token::True | Token::False | Token::Null => {
                let start = reader.token_start();
                if self.value(start) {
                    self.leave_out(start, reader.position());
                }
                Ok(())
            }
        }
    }

    fn name(&mut self, name: RawString<'a>, reader: &Reader<'a>) -> Result<(), JsonError> {
        if name.has_lone_surrogate() {
            return Err(lone_surrogate(reader));
        }
        let left_out = self.walk.member(name);
        self.pending.push(Member {
            name,
            value: reader.position(),
            object: 0,
            left_out,
        });
        Ok(())
    }

    fn open(&mut self, start: usize, kind: Kind) {
        let left_out_from = self.value(start).then_some(start);
        self.walk.open();
        self.containers.push(Container { kind, left_out_from });
    }

    /// A value begins. True where it is an element that is left out; of a member that is known by its name.
    fn value(&mut self, start: usize) -> bool {
        match self.containers.last_mut().map(|container| &mut container.kind) {
            Some(Kind::Object { .. }) => {
                if let Some(member) = self.pending.last_mut() {
                    member.value = start;
                    member.object = self.index.objects.len();
                }
                false
            }
            Some(Kind::Array { elements }) => {
                let index = *elements;
                *elements = index.saturating_add(1);
                self.walk.element(index)
            }
            None => false,
        }
    }

    fn close(&mut self, end: usize) -> Result<(), JsonError> {
        self.walk.close();
        let Some(container) = self.containers.pop() else {
            return Ok(());
        };
        if let Some(start) = container.left_out_from {
            self.leave_out(start, end);
        }
        if let Kind::Object { object, first } = container.kind {
            let at = self.index.members.len();
            let members = self.pending.get_mut(first..).unwrap_or_default();
            sort(members)?;
            let kept = members.iter().filter(|member| !member.left_out);
            self.index.members.extend(kept);
            self.pending.truncate(first);
            let (last, next) = (self.index.members.len(), self.index.objects.len());
            if let Some(object) = self.index.objects.get_mut(object) {
                *object = Object {
                    first: at,
                    last,
                    end: End {
                        offset: end,
                        object: next,
                    },
                };
            }
        }
        Ok(())
    }

    fn leave_out(&mut self, start: usize, end: usize) {
        let end = End {
            offset: end,
            object: self.index.objects.len(),
        };
        self.index.elements_left_out.push(LeftOut { start, end });
    }
}

/// Sorts by the UTF-16 code units of the names (RFC 8785, 3.2.3). Equal names end up side by side, which is how they are
/// found without comparing each with each.
fn sort(members: &mut [Member<'_>]) -> Result<(), JsonError> {
    heap_sort(members);
    let twins = members.iter().zip(members.iter().skip(1));
    match twins.into_iter().find(|(a, b)| a.name.cmp_utf16(b.name).is_eq()) {
        Some((a, b)) => Err(JsonError {
            fault: Fault::DuplicateName,
            offset: a.value.max(b.value),
        }),
        None => Ok(()),
    }
}

/// The textbook's: in place, and no order of names makes it slow. The standard library's sorts are faster and 5 KB.
fn heap_sort(members: &mut [Member<'_>]) {
    for root in (0..members.len() / 2).rev() {
        sift_down(members, root);
    }
    for end in (1..members.len()).rev() {
        members.swap(0, end);
        sift_down(members.get_mut(..end).unwrap_or_default(), 0);
    }
}

/// Moves the root of a heap down to where both of its children are smaller.
fn sift_down(heap: &mut [Member<'_>], mut root: usize) {
    let is_less = |heap: &[Member<'_>], a: usize, b: usize| match (heap.get(a), heap.get(b)) {
        (Some(a), Some(b)) => a.name.cmp_utf16(b.name).is_lt(),
        _ => false,
    };
    loop {
        let left = root.saturating_mul(2).saturating_add(1);
        let right = left.saturating_add(1);
        let larger = if is_less(heap, left, right) { right } else { left };
        if !is_less(heap, root, larger) {
            return;
        }
        heap.swap(root, larger);
        root = larger;
    }
}

fn lone_surrogate(reader: &Reader<'_>) -> JsonError {
    JsonError {
        fault: Fault::LoneSurrogate,
        offset: reader.token_start(),
    }
}
