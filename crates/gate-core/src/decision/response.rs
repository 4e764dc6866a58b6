//! The HTTP answers.

use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use super::{Response, Value};

impl Response {
    /// "Thank you, no need to send it again", and in a word why nothing is done about it.
    pub(super) fn received(and: Option<&'static str>) -> Self {
        let mut body = vec![("received", Value::Bool(true))];
        body.extend(and.map(|word| (word, Value::Bool(true))));
        Self::json(200, body)
    }

    /// "Not taken", with a stable word that says why.
    pub(super) fn refused(status_code: u16, reason: &'static str) -> Self {
        Self::json(
            status_code,
            vec![("received", Value::Bool(false)), ("reason", Value::Text(reason))],
        )
    }

    /// "Come back in so many seconds" (RFC 9110, 10.2.3): rounded up, so that whoever obeys is not early, and at least one.
    pub(super) fn retry_after(mut self, wait_ms: Option<u64>) -> Self {
        if let Some(wait_ms) = wait_ms {
            let seconds = wait_ms.div_ceil(1000).max(1);
            self.headers.push(("retry-after", seconds.to_string()));
        }
        self
    }

    fn json(status_code: u16, body: Vec<(&'static str, Value)>) -> Self {
        Self {
            status_code,
            headers: vec![("content-type", "application/json".to_owned())],
            body,
        }
    }
}
