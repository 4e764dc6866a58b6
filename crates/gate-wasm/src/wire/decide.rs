//! `DecideRequest`, `Decision`.

use gate_core::decision::{Decision, Event, InProgressOutput, Policy, Reply, Value};
use gate_core::vocabulary::{ConfigurationCode, Patience, RejectionCode, State, StoreFailure, Verdict};

use super::answer::Answer;
use super::request::{Object, read, wrong};
use crate::calls::Malformed;

/// What happened to one delivery, and what the user chose. An unknown word is refused, never guessed.
pub(crate) fn request(text: &str) -> Result<(Event, Policy), Malformed> {
    let mut request = read(text)?;
    let event = match request.text("type")?.as_str() {
        "store" => Event::Answered(Reply {
            verdict: request.word("verdict", Verdict::parse)?,
            state: request.nullable_word("state", State::parse)?,
            retry_after_ms: request.nullable_milliseconds("retryAfterMs")?,
            payload_changed: request.flag("payloadChanged")?,
        }),
        "refused" => request.word("code", refused)?,
        "store_failed" => Event::StoreFailed(request.word("code", StoreFailure::parse)?),
        _ => return Err(wrong("type", "a known one")),
    };
    let policy = policy(request.object("policy")?)?;
    request.end()?;
    Ok((event, policy))
}

fn refused(code: &str) -> Option<Event> {
    let rejected = RejectionCode::parse(code).map(Event::Rejected);
    rejected.or_else(|| ConfigurationCode::parse(code).map(Event::Misconfigured))
}

fn policy(mut object: Object<'_>) -> Result<Policy, Malformed> {
    let policy = Policy {
        in_progress: object.word("inProgress", Patience::parse)?,
        needs_attention: object.word("needsAttention", Patience::parse)?,
        in_progress_output: object.word("inProgressOutput", in_progress_output)?,
    };
    object.end()?;
    Ok(policy)
}

fn in_progress_output(word: &str) -> Option<InProgressOutput> {
    match word {
        "duplicate" => Some(InProgressOutput::Duplicate),
        "rejected" => Some(InProgressOutput::Rejected),
        _ => None,
    }
}

pub(crate) fn answer(decision: &Decision) -> String {
    let response = &decision.response;
    let headers = response
        .headers
        .iter()
        .fold(Answer::new(), |object, (name, value)| object.text(name, value));
    let body = response
        .body
        .iter()
        .fold(Answer::new(), |object, (name, value)| match value {
            Value::Bool(flag) => object.flag(name, *flag),
            Value::Text(text) => object.text(name, text),
        });
    Answer::new()
        .text("outcome", decision.outcome.as_str())
        .flag("claimed", decision.claimed)
        .text("output", decision.output.as_str())
        .flag("needsAttention", decision.needs_attention)
        .text("message", &decision.message)
        .object(
            "response",
            Answer::new()
                .number("statusCode", response.status_code.into())
                .object("headers", headers)
                .object("body", body),
        )
        .end()
}
