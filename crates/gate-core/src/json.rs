//! Strict JSON (RFC 8259) over the raw bytes of a body: nothing is repaired, nothing is rounded, nothing recurses.

/// Containers within containers, at most. Deeper JSON is refused by name instead of risking the stack.
pub const MAX_DEPTH: usize = 128;

/// Why bytes are not the JSON that was asked for, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong.
    pub fault: Fault,
    /// Where, bytes from the start of the body.
    pub offset: usize,
}

/// What can be wrong with JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not UTF-8.
    NotUtf8,
    /// Not the grammar of RFC 8259, or cut off, or something stands behind it.
    Syntax,
    /// Nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// A name stands twice in one object, so parsers disagree about the value.
    DuplicateName,
    /// Half of a surrogate pair: not a character.
    LoneSurrogate,
    /// A number that the canonical form cannot hold.
    NumberOutOfRange,
}
