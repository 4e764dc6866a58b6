//! `DecideRequest`, `Decision`.

use alloc::string::String;

use gate_core::decision::{Decision, Event, InProgressOutput, Policy, Reply, Value};
use gate_core::vocabulary::{ConfigurationCode, Patience, RejectionCode, State, StoreFailure, Verdict};

use super::answer::Answer;
use super::request::{Object, read};
use crate::calls::Malformed;

/// What happened to one delivery, and what the user chose. An unknown word is refused, never guessed.
pub(crate) fn request(text: &str) -> Result<(Event, Policy), Malformed> {
    let mut request = read(text)?;
    let event = match request.text("type").as_str() {
        "store" => reply(&mut request).map(Event::Answered),
        "refused" => request.word("code", refused),
        "store_failed" => request.word("code", StoreFailure::parse).map(Event::StoreFailed),
        _ => None,
    };
    let policy = policy(&mut request)?;
    request.end()?;
    Ok((event.ok_or(Malformed { field: "type" })?, policy))
}

fn reply(request: &mut Object<'_>) -> Option<Reply> {
    let verdict = request.word("verdict", Verdict::parse);
    let state = request.nullable_word("state", State::parse);
    let retry_after_ms = request.nullable_milliseconds("retryAfterMs");
    let payload_changed = request.flag("payloadChanged");
    Some(Reply {
        verdict: verdict?,
        state,
        retry_after_ms,
        payload_changed,
    })
}

fn refused(code: &str) -> Option<Event> {
    let rejected = RejectionCode::parse(code).map(Event::Rejected);
    rejected.or_else(|| ConfigurationCode::parse(code).map(Event::Misconfigured))
}

fn policy(request: &mut Object<'_>) -> Result<Policy, Malformed> {
    const WRONG: Malformed = Malformed { field: "policy" };
    let mut object = request.object("policy").ok_or(WRONG)?;
    let in_progress = object.word("inProgress", Patience::parse);
    let needs_attention = object.word("needsAttention", Patience::parse);
    let output = object.word("inProgressOutput", in_progress_output);
    object.end()?;
    let (Some(in_progress), Some(needs_attention), Some(in_progress_output)) = (in_progress, needs_attention, output)
    else {
        return Err(WRONG);
    };
    Ok(Policy {
        in_progress,
        needs_attention,
        in_progress_output,
    })
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
    let mut headers = Answer::new();
    for (name, value) in &response.headers {
        headers.text(name, value);
    }
    let mut body = Answer::new();
    for (name, value) in &response.body {
        match value {
            Value::Bool(flag) => body.flag(name, *flag),
            Value::Text(text) => body.text(name, text),
        };
    }
    let mut answer = Answer::new();
    answer
        .number("statusCode", response.status_code.into())
        .object("headers", &mut headers)
        .object("body", &mut body);
    Answer::new()
        .text("outcome", decision.outcome.as_str())
        .flag("claimed", decision.claimed)
        .text("output", decision.output.as_str())
        .flag("needsAttention", decision.needs_attention)
        .text("message", &decision.message)
        .object("response", &mut answer)
        .end()
}
