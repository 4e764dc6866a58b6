//! What does the store's answer mean for the workflow and for the sender? One table (`table.rs`), one set of answers.

mod response;
mod table;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::vocabulary::{ConfigurationCode, Outcome, RejectionCode, State, Verdict};
pub use crate::vocabulary::{Output, Patience, StoreFailure};
use table::Standing;

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

/// Decides what a delivery is. A reply whose state contradicts its verdict is never a claim and never a duplicate: nothing
/// is known then, and the sender is asked to come back.
#[must_use]
pub fn decide(event: &Event, policy: &Policy) -> Decision {
    match *event {
        Event::Answered(reply) => answered(reply, *policy),
        Event::Rejected(code) => refused(
            rejection_status(code),
            code.as_str(),
            "The delivery was refused",
            code.as_str(),
        ),
        // The sender is not told what is wrong with the set-up.
        Event::Misconfigured(code) => refused(500, "misconfigured", "The gate is not set up correctly", code.as_str()),
        Event::StoreFailed(StoreFailure::Unavailable) => unavailable("The store could not be reached"),
        Event::StoreFailed(StoreFailure::Busy) => unavailable("The store did not answer in time"),
    }
}

fn answered(reply: Reply, policy: Policy) -> Decision {
    let Some((outcome, standing)) = table::standing(reply.verdict, reply.state) else {
        return unavailable("The store gave an answer that contradicts itself");
    };
    let output = match standing {
        Standing::Ours => Output::Claimed,
        Standing::Done | Standing::Superseded | Standing::WaitsForRetry | Standing::WaitsForPerson => Output::Duplicate,
        Standing::InProgress => match policy.in_progress_output {
            InProgressOutput::Duplicate => Output::Duplicate,
            InProgressOutput::Rejected => Output::Rejected,
        },
        Standing::Mismatch => Output::Rejected,
    };
    let refuse = |status_code| Response::refused(status_code, outcome.as_str());
    let response = match (standing, policy.in_progress, policy.needs_attention) {
        (Standing::Ours, ..) => Response::received(None),
        (Standing::Done, ..)
        | (Standing::InProgress, Patience::Accept, _)
        | (Standing::WaitsForPerson, _, Patience::Accept) => Response::received(Some("duplicate")),
        // Not a duplicate: nobody has handled this one, and nobody will.
        (Standing::Superseded, ..) => Response::received(Some("superseded")),
        (Standing::InProgress, Patience::RetryLater, _) => refuse(409).retry_after(reply.retry_after_ms),
        (Standing::WaitsForRetry, ..) => refuse(503).retry_after(reply.retry_after_ms),
        (Standing::WaitsForPerson, _, Patience::RetryLater) => refuse(503),
        (Standing::Mismatch, ..) => refuse(422),
    };
    Decision {
        outcome,
        claimed: standing == Standing::Ours,
        output,
        needs_attention: standing == Standing::WaitsForPerson,
        message: table::describe(outcome, standing, reply.payload_changed),
        response,
    }
}

/// `reason` is for the sender, `code` for the user.
fn refused(status_code: u16, reason: &'static str, what: &str, code: &str) -> Decision {
    Decision {
        outcome: Outcome::Rejected,
        claimed: false,
        output: Output::Rejected,
        needs_attention: false,
        message: format!("{what} ({code}). Nothing was claimed."),
        response: Response::refused(status_code, reason),
    }
}

fn unavailable(what: &str) -> Decision {
    let outcome = Outcome::Unavailable;
    Decision {
        outcome,
        claimed: false,
        output: Output::Rejected,
        needs_attention: false,
        message: format!("{what}. Nothing is known about this event; it can be delivered again safely."),
        response: Response::refused(503, outcome.as_str()),
    }
}

const fn rejection_status(code: RejectionCode) -> u16 {
    use RejectionCode as Code;
    match code {
        Code::SignatureMissing
        | Code::SignatureMalformed
        | Code::SignatureAmbiguous
        | Code::SignatureMismatch
        | Code::TimestampMissing
        | Code::TimestampMalformed
        | Code::TimestampOutsideTolerance => 401,
        Code::BodyTooLarge => 413,
        Code::RawBodyMissing
        | Code::BodyEmpty
        | Code::BodyNotJson
        | Code::BodyTooDeep
        | Code::EventIdMissing
        | Code::EventIdInvalid
        | Code::BusinessKeyInvalid
        | Code::ObjectVersionInvalid => 400,
    }
}

#[cfg(test)]
mod tests;
