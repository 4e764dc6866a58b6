use super::*;

const CLAIMS: [Verdict; 4] = [
    Verdict::Claimed,
    Verdict::Reentrant,
    Verdict::Retried,
    Verdict::TakenOver,
];
const GUARDS: [Verdict; 2] = [Verdict::BusinessDuplicate, Verdict::BodyDuplicate];

fn policies() -> Vec<Policy> {
    let mut policies = Vec::new();
    for &in_progress in Patience::ALL {
        for &needs_attention in Patience::ALL {
            for in_progress_output in [InProgressOutput::Duplicate, InProgressOutput::Rejected] {
                policies.push(Policy {
                    in_progress,
                    needs_attention,
                    in_progress_output,
                });
            }
        }
    }
    policies
}

fn patient() -> Policy {
    Policy {
        in_progress: Patience::Accept,
        needs_attention: Patience::Accept,
        in_progress_output: InProgressOutput::Duplicate,
    }
}

fn impatient() -> Policy {
    Policy {
        in_progress: Patience::RetryLater,
        needs_attention: Patience::RetryLater,
        in_progress_output: InProgressOutput::Rejected,
    }
}

fn states() -> Vec<Option<State>> {
    State::ALL.iter().copied().map(Some).chain([None]).collect()
}

fn reply(verdict: Verdict, state: Option<State>) -> Decision {
    reply_under(verdict, state, patient())
}

fn reply_under(verdict: Verdict, state: Option<State>, policy: Policy) -> Decision {
    let retry_after_ms = Some(1);
    let event = Event::Answered(Reply {
        verdict,
        state,
        retry_after_ms,
        payload_changed: false,
    });
    decide(&event, &policy)
}

fn header<'d>(decision: &'d Decision, name: &str) -> Option<&'d str> {
    decision
        .response
        .headers
        .iter()
        .find(|(given, _)| *given == name)
        .map(|(_, value)| value.as_str())
}

/// What a store may say: for each verdict the states that go with it.
fn consistent(verdict: Verdict) -> Vec<Option<State>> {
    use State::{Completed, Dead, Failed, Processing, Uncertain};
    match verdict {
        Verdict::Claimed | Verdict::Reentrant | Verdict::Retried | Verdict::TakenOver => {
            vec![Some(Processing), Some(Completed)]
        }
        Verdict::Completed | Verdict::Superseded => vec![Some(Completed)],
        Verdict::InProgress => vec![Some(Processing)],
        Verdict::Backoff => vec![Some(Failed)],
        Verdict::Uncertain | Verdict::Held => vec![Some(Uncertain)],
        Verdict::Exhausted | Verdict::Dead => vec![Some(Dead)],
        Verdict::BusinessDuplicate | Verdict::BodyDuplicate => State::ALL.iter().copied().map(Some).collect(),
        Verdict::DuplicateInBatch | Verdict::PayloadMismatch => states(),
    }
}

#[test]
fn every_reply_under_every_policy_is_consistent_or_unknown() {
    for &verdict in Verdict::ALL {
        for state in states() {
            for policy in policies() {
                let decision = reply_under(verdict, state, policy);
                let case = format!("{verdict:?} {state:?} {policy:?}: {decision:?}");
                if consistent(verdict).contains(&state) {
                    assert_eq!(decision.outcome.as_str(), verdict.as_str(), "{case}");
                    assert_eq!(decision.claimed, CLAIMS.contains(&verdict), "{case}");
                } else {
                    assert_eq!(decision.outcome, Outcome::Unavailable, "{case}");
                    assert_eq!(decision.response.status_code, 503, "{case}");
                    assert!(!decision.claimed, "{case}");
                }
                assert_eq!(decision.claimed, decision.output == Output::Claimed, "{case}");
                assert!(!(decision.claimed && decision.needs_attention), "{case}");
                assert!(decision.message.ends_with('.'), "{case}");
                assert_eq!(header(&decision, "content-type"), Some("application/json"), "{case}");
                let received = decision.response.body.first();
                assert_eq!(
                    received,
                    Some(&("received", Value::Bool(decision.response.status_code == 200))),
                    "{case}"
                );
            }
        }
    }
}

/// Verdict, state, how it leaves and is answered where recovery stands behind the gate, and where the sender's retry does.
type Row = (Verdict, State, (Output, u16), (Output, u16));

const CLAIMED: (Output, u16) = (Output::Claimed, 200);
const RECEIVED: (Output, u16) = (Output::Duplicate, 200);
const LATER: (Output, u16) = (Output::Duplicate, 503);
const CONFLICT: (Output, u16) = (Output::Rejected, 409);
const MISMATCH: (Output, u16) = (Output::Rejected, 422);

const TABLE: &[Row] = &[
    (Verdict::Claimed, State::Processing, CLAIMED, CLAIMED),
    (Verdict::Claimed, State::Completed, CLAIMED, CLAIMED),
    (Verdict::Completed, State::Completed, RECEIVED, RECEIVED),
    (Verdict::Superseded, State::Completed, RECEIVED, RECEIVED),
    (Verdict::DuplicateInBatch, State::Processing, RECEIVED, RECEIVED),
    (Verdict::InProgress, State::Processing, RECEIVED, CONFLICT),
    (Verdict::Backoff, State::Failed, LATER, LATER),
    (Verdict::Uncertain, State::Uncertain, RECEIVED, LATER),
    (Verdict::Held, State::Uncertain, RECEIVED, LATER),
    (Verdict::Exhausted, State::Dead, RECEIVED, LATER),
    (Verdict::Dead, State::Dead, RECEIVED, LATER),
    (Verdict::PayloadMismatch, State::Completed, MISMATCH, MISMATCH),
    (Verdict::BusinessDuplicate, State::Completed, RECEIVED, RECEIVED),
    (Verdict::BusinessDuplicate, State::Processing, RECEIVED, CONFLICT),
    (Verdict::BusinessDuplicate, State::Failed, LATER, LATER),
    (Verdict::BusinessDuplicate, State::Uncertain, RECEIVED, LATER),
    (Verdict::BodyDuplicate, State::Dead, RECEIVED, LATER),
];

#[test]
fn the_table_of_answers() {
    for &(verdict, state, with_recovery, without) in TABLE {
        for (policy, expected) in [(patient(), with_recovery), (impatient(), without)] {
            let decision = reply_under(verdict, Some(state), policy);
            let answered = (decision.output, decision.response.status_code);
            assert_eq!(answered, expected, "{verdict:?} {state:?}");
            let stuck = matches!(state, State::Uncertain | State::Dead);
            assert_eq!(decision.needs_attention, stuck, "{verdict:?} {state:?}");
        }
    }
}

#[test]
fn a_duplicate_of_a_fact_is_answered_as_its_holder_would_be() {
    for guard in GUARDS {
        for (state, verdict) in [
            (State::Completed, Verdict::Completed),
            (State::Processing, Verdict::InProgress),
            (State::Failed, Verdict::Backoff),
            (State::Uncertain, Verdict::Uncertain),
            (State::Dead, Verdict::Dead),
        ] {
            for policy in policies() {
                let duplicate = reply_under(guard, Some(state), policy);
                let holder = reply_under(verdict, Some(state), policy);
                assert_eq!(duplicate.response.status_code, holder.response.status_code);
                assert_eq!(duplicate.response.headers, holder.response.headers);
                assert_eq!(duplicate.output, holder.output);
                assert_eq!(duplicate.needs_attention, holder.needs_attention);
            }
        }
    }
}

#[test]
fn the_sender_of_what_is_not_done_is_told_why() {
    let body = reply(Verdict::Completed, Some(State::Completed)).response.body;
    assert_eq!(
        body,
        [("received", Value::Bool(true)), ("duplicate", Value::Bool(true))]
    );
    let body = reply(Verdict::Superseded, Some(State::Completed)).response.body;
    assert_eq!(
        body,
        [("received", Value::Bool(true)), ("superseded", Value::Bool(true))]
    );
    let body = reply(Verdict::Claimed, Some(State::Processing)).response.body;
    assert_eq!(body, [("received", Value::Bool(true))]);
    let body = reply(Verdict::Backoff, Some(State::Failed)).response.body;
    assert_eq!(
        body,
        [("received", Value::Bool(false)), ("reason", Value::Text("backoff"))]
    );
}

#[test]
fn retry_after_is_in_whole_seconds_rounded_up_and_at_least_one() {
    let wait = |retry_after_ms| {
        let event = Event::Answered(Reply {
            verdict: Verdict::InProgress,
            state: Some(State::Processing),
            retry_after_ms,
            payload_changed: false,
        });
        header(&decide(&event, &impatient()), "retry-after").map(str::to_owned)
    };
    assert_eq!(wait(Some(0)).as_deref(), Some("1"));
    assert_eq!(wait(Some(1000)).as_deref(), Some("1"));
    assert_eq!(wait(Some(1001)).as_deref(), Some("2"));
    assert_eq!(wait(Some(u64::MAX)).as_deref(), Some("18446744073709552"));
    assert_eq!(wait(None), None);
    assert_eq!(
        header(&reply(Verdict::Backoff, Some(State::Failed)), "retry-after"),
        Some("1")
    );
    for verdict in [Verdict::Completed, Verdict::Claimed, Verdict::InProgress] {
        for state in states() {
            assert_eq!(header(&reply(verdict, state), "retry-after"), None);
        }
    }
}

#[test]
fn every_rejection_has_its_status() {
    for &code in RejectionCode::ALL {
        for policy in policies() {
            let decision = decide(&Event::Rejected(code), &policy);
            let name = code.as_str();
            let expected = match name {
                _ if name.starts_with("signature_") || name.starts_with("timestamp_") => 401,
                "body_too_large" => 413,
                _ => 400,
            };
            assert_eq!(decision.response.status_code, expected, "{name}");
            assert_eq!(
                (decision.outcome, decision.output, decision.claimed),
                (Outcome::Rejected, Output::Rejected, false)
            );
            assert!(decision.message.contains(name));
        }
    }
}

#[test]
fn the_sender_is_not_told_what_is_wrong_with_the_set_up() {
    for &code in ConfigurationCode::ALL {
        let decision = decide(&Event::Misconfigured(code), &patient());
        assert_eq!(decision.response.status_code, 500);
        assert_eq!(
            (decision.outcome, decision.output, decision.claimed),
            (Outcome::Rejected, Output::Rejected, false)
        );
        assert!(decision.message.contains(code.as_str()));
        assert!(
            decision
                .response
                .body
                .contains(&("reason", Value::Text("misconfigured")))
        );
    }
}

#[test]
fn a_store_that_cannot_answer_is_an_unknown() {
    for &failure in StoreFailure::ALL {
        let decision = decide(&Event::StoreFailed(failure), &patient());
        assert_eq!(
            (decision.outcome, decision.output, decision.claimed),
            (Outcome::Unavailable, Output::Rejected, false)
        );
        assert_eq!(decision.response.status_code, 503);
    }
}

#[test]
fn a_changed_body_is_mentioned_and_changes_nothing_else() {
    for &verdict in Verdict::ALL {
        for state in consistent(verdict) {
            let plain = reply(verdict, state);
            let event = Event::Answered(Reply {
                verdict,
                state,
                retry_after_ms: Some(1),
                payload_changed: true,
            });
            let changed = decide(&event, &patient());
            assert_eq!(changed.message != plain.message, verdict != Verdict::PayloadMismatch);
            assert_eq!(
                Decision {
                    message: plain.message.clone(),
                    ..changed
                },
                plain
            );
        }
    }
}
