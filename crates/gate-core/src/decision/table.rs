//! The table: what every verdict means, given the state of the record. Where they contradict each other it has no row.

use alloc::string::String;

use crate::vocabulary::{Outcome, State, Verdict};

/// Where the event stands, as far as the sender and the workflow are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is ours: go on.
    Ours,
    /// It is being seen to, or was: nothing to do.
    Done,
    /// Out of date: to do it now would undo what a newer event has done.
    Superseded,
    /// Somebody works on it.
    InProgress,
    /// It failed and is not due yet. Only a later delivery or the recovery brings it back, so the sender is asked for one.
    WaitsForRetry,
    /// Nothing will happen until a person acts.
    WaitsForPerson,
    /// It is not the event that it says it is.
    Mismatch,
}

/// The row for a reply, or `None` where the store contradicts itself.
pub(super) const fn standing(verdict: Verdict, state: Option<State>) -> Option<(Outcome, Standing)> {
    use State::{Completed, Dead, Failed, Processing, Uncertain};
    Some(match (verdict, state) {
        // `completed` straight away is a claim whose policy is to complete on claiming.
        (Verdict::Claimed, Some(Processing | Completed)) => (Outcome::Claimed, Standing::Ours),
        (Verdict::Reentrant, Some(Processing | Completed)) => (Outcome::Reentrant, Standing::Ours),
        (Verdict::Retried, Some(Processing | Completed)) => (Outcome::Retried, Standing::Ours),
        (Verdict::TakenOver, Some(Processing | Completed)) => (Outcome::TakenOver, Standing::Ours),

        (Verdict::Completed, Some(Completed)) => (Outcome::Completed, Standing::Done),
        (Verdict::InProgress, Some(Processing)) => (Outcome::InProgress, Standing::InProgress),
        (Verdict::Backoff, Some(Failed)) => (Outcome::Backoff, Standing::WaitsForRetry),
        (Verdict::Uncertain, Some(Uncertain)) => (Outcome::Uncertain, Standing::WaitsForPerson),
        (Verdict::Held, Some(Uncertain)) => (Outcome::Held, Standing::WaitsForPerson),
        (Verdict::Exhausted, Some(Dead)) => (Outcome::Exhausted, Standing::WaitsForPerson),
        (Verdict::Dead, Some(Dead)) => (Outcome::Dead, Standing::WaitsForPerson),

        // The item in front of it, in the same input, stands for both.
        (Verdict::DuplicateInBatch, _) => (Outcome::DuplicateInBatch, Standing::Done),

        // Another event holds the fact. Whether the fact is seen to is the holder's state, not the match: "received" to a
        // sender whose fact has failed elsewhere would lose it.
        (Verdict::BusinessDuplicate, Some(holder)) => (Outcome::BusinessDuplicate, standing_of(holder)),
        (Verdict::BodyDuplicate, Some(holder)) => (Outcome::BodyDuplicate, standing_of(holder)),

        // The state is that of the newer event, as with the other matches on a record that is not this event's own.
        (Verdict::Superseded, Some(Completed)) => (Outcome::Superseded, Standing::Superseded),

        (Verdict::PayloadMismatch, _) => (Outcome::PayloadMismatch, Standing::Mismatch),

        (
            Verdict::Claimed
            | Verdict::Reentrant
            | Verdict::Retried
            | Verdict::TakenOver
            | Verdict::Completed
            | Verdict::InProgress
            | Verdict::Backoff
            | Verdict::Uncertain
            | Verdict::Held
            | Verdict::Exhausted
            | Verdict::Dead
            | Verdict::BusinessDuplicate
            | Verdict::BodyDuplicate
            | Verdict::Superseded,
            _,
        ) => return None,
    })
}

/// How a duplicate stands whose fact is held by a record in this state.
const fn standing_of(holder: State) -> Standing {
    match holder {
        State::Completed => Standing::Done,
        State::Processing => Standing::InProgress,
        State::Failed => Standing::WaitsForRetry,
        State::Uncertain | State::Dead => Standing::WaitsForPerson,
    }
}

/// One or two sentences for a person or an agent.
pub(super) fn describe(outcome: Outcome, standing: Standing, payload_changed: bool) -> String {
    let what = match outcome {
        Outcome::Claimed => "First delivery of this event: go on.",
        Outcome::Reentrant => "This run has claimed the event already, before a retry: go on.",
        Outcome::Retried => "An earlier attempt at this event failed, this is the next one: go on.",
        Outcome::TakenOver => "An earlier attempt at this event was abandoned, this run takes over: go on.",
        Outcome::Completed => "This event was handled by an earlier delivery.",
        Outcome::DuplicateInBatch => "The same event stands earlier in this input.",
        Outcome::BusinessDuplicate => "Another event has the same business key.",
        Outcome::BodyDuplicate => "Another event came with the same body.",
        Outcome::Superseded => "A newer event for the same object was handled already.",
        Outcome::InProgress => "Another run is working on this event.",
        Outcome::Backoff => "An earlier attempt at this event failed, and the next one is not due yet.",
        Outcome::Uncertain => "It is not known how the earlier attempt at this event ended.",
        Outcome::Held => "An earlier attempt at this event was abandoned, and it is not known how far it came.",
        Outcome::Exhausted => "The last attempt at this event was abandoned, and no attempts are left.",
        Outcome::Dead => "This event has failed for good.",
        Outcome::PayloadMismatch => "An event with this id was received before, with another body.",
        Outcome::Rejected => "The delivery was refused.",
        Outcome::Unavailable => "The store could not answer.",
    };
    let holder = match (outcome, standing) {
        (Outcome::BusinessDuplicate | Outcome::BodyDuplicate, Standing::InProgress) => " That one is being worked on.",
        (Outcome::BusinessDuplicate | Outcome::BodyDuplicate, Standing::WaitsForRetry) => {
            " That one has failed and will be tried again."
        }
        _ => "",
    };
    let person = if standing == Standing::WaitsForPerson {
        " A person has to decide what happens next."
    } else {
        ""
    };
    let changed = match standing {
        Standing::Mismatch => "",
        _ if payload_changed => " Its body differs from the one received first.",
        _ => "",
    };
    [what, holder, person, changed].concat()
}
