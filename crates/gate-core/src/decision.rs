//! What does the store's answer mean for the workflow and for the sender? One table.

pub use crate::vocabulary::{Output, Patience, StoreFailure};
use crate::vocabulary::{ConfigurationCode, Outcome, RejectionCode, State, Verdict};

/// What happened to one delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The store answered.
    Answered(Reply),
    /// Refused before the store: the sender's doing.
    Rejected(RejectionCode),
    /// Refused before the store: the user's doing.
    Misconfigured(ConfigurationCode),
    /// The store could not answer.
    StoreFailed(StoreFailure),
}

/// What the store answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What it decided.
    pub verdict: Verdict,
    /// State of the record after the step (of the record that holds the guard, for a guard's duplicate).
    pub state: Option<State>,
    /// Time until the record may be claimed again, ms.
    pub retry_after_ms: Option<u64>,
    /// True when the stored body digest differs from this delivery's.
    pub payload_changed: bool,
}

/// What the user chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How a duplicate of a live claim is answered.
    pub in_progress: Patience,
    /// How a duplicate that needs a person is answered.
    pub needs_attention: Patience,
    /// By which output a duplicate of a live claim leaves.
    pub in_progress_output: InProgressOutput,
}

/// By which output a duplicate of a live claim leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InProgressOutput {
    /// With the other duplicates.
    Duplicate,
    /// With what was not accepted, so that a 409 or 503 makes the sender come back.
    Rejected,
}

/// The gate's answer for one delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What it is.
    pub outcome: Outcome,
    /// True exactly when the event is ours.
    pub claimed: bool,
    /// By which output it leaves.
    pub output: Output,
    /// True where nothing will happen until a person acts.
    pub needs_attention: bool,
    /// One sentence for a person or an agent.
    pub message: String,
    /// What to answer the sender.
    pub response: Response,
}

/// A ready HTTP answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// HTTP status.
    pub status_code: u16,
    /// Names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// Members of the JSON body, in order.
    pub body: Vec<(&'static str, Value)>,
}

/// A value in a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A word of the vocabulary.
    Text(&'static str),
}

/// Decides.
#[must_use]
pub fn decide(_event: &Event, _policy: &Policy) -> Decision {
    Decision {
        outcome: Outcome::Unavailable,
        claimed: false,
        output: Output::Rejected,
        needs_attention: false,
        message: String::new(),
        response: Response {
            status_code: 503,
            headers: Vec::new(),
            body: Vec::new(),
        },
    }
}
