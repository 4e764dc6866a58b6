//! Request headers as they were received, and the one way to read a header that matters: once, and unambiguous.

use alloc::string::String;

/// All headers of a request: name in any case, value without the line end. A header sent twice stands here twice.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a>(pub &'a [(String, String)]);

/// Why a header cannot be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFault {
    /// Sent more than once, or joined from several by something in between: which one counts is a matter of taste.
    Repeated,
    /// Holds a control character, which cannot come from HTTP: somebody tries to inject a header.
    ControlCharacter,
}

impl<'a> Headers<'a> {
    /// The value of a header without the optional white space around it (RFC 9110, 5.5: space and tab, nothing else).
    /// An empty value counts as absent. `name` in any case.
    ///
    /// # Errors
    /// [`HeaderFault::Repeated`] where the header stands there twice, even with equal values.
    pub fn single(self, name: &str) -> Result<Option<&'a str>, HeaderFault> {
        let mut values = self
            .0
            .iter()
            .filter(|(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value);
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(HeaderFault::Repeated);
        }
        let value = value.trim_matches([' ', '\t']);
        if value.chars().any(|c| c.is_control() && c != '\t') {
            return Err(HeaderFault::ControlCharacter);
        }
        Ok((!value.is_empty()).then_some(value))
    }

    /// [`single`](Self::single) for a header that carries an id. Node.js hands out a repeated header as one value joined
    /// with `, `; whoever replays a request could add a second id that way. So a comma is refused.
    ///
    /// # Errors
    /// [`HeaderFault::Repeated`] where the value may be a joined one, and the faults of [`single`](Self::single).
    pub fn single_id(self, name: &str) -> Result<Option<&'a str>, HeaderFault> {
        match self.single(name)? {
            Some(value) if value.contains(',') => Err(HeaderFault::Repeated),
            value => Ok(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[(&str, &str)], name: &str) -> Result<Option<String>, HeaderFault> {
        let owned: Vec<_> = headers
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Headers(&owned).single(name).map(|value| value.map(str::to_owned))
    }

    #[test]
    fn names_are_case_insensitive() {
        assert_eq!(
            read(&[("STRIPE-Signature", "t=1")], "stripe-signature"),
            Ok(Some("t=1".into()))
        );
    }

    #[test]
    fn only_space_and_tab_around_the_value_are_dropped() {
        assert_eq!(read(&[("a", " \tx y\t ")], "a"), Ok(Some("x y".into())));
        assert_eq!(read(&[("a", "\u{a0}x")], "a"), Ok(Some("\u{a0}x".into())));
        assert_eq!(read(&[("a", "x\n")], "a"), Err(HeaderFault::ControlCharacter));
        assert_eq!(read(&[("a", "x\r\nb: y")], "a"), Err(HeaderFault::ControlCharacter));
    }

    #[test]
    fn empty_is_absent_and_twice_is_never_fine() {
        assert_eq!(read(&[("a", " ")], "a"), Ok(None));
        assert_eq!(read(&[("b", "x")], "a"), Ok(None));
        assert_eq!(read(&[("a", "x"), ("A", "x")], "a"), Err(HeaderFault::Repeated));
        assert_eq!(read(&[("a", ""), ("a", "x")], "a"), Err(HeaderFault::Repeated));
    }

    #[test]
    fn an_id_may_not_be_a_joined_one() {
        let headers = [("id".to_owned(), "a, b".to_owned())];
        assert_eq!(Headers(&headers).single_id("id"), Err(HeaderFault::Repeated));
    }
}
