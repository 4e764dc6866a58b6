//! `DecideRequest`, `Decision`.

use gate_core::decision::{self, Event, InProgressOutput, Policy, Reply, Value};
use gate_core::vocabulary::{ConfigurationCode, Patience, RejectionCode, State, StoreFailure, Verdict};
use serde::{Deserialize, Serialize, Serializer};

use super::{nullable, whole_ms};

/// What happened to one delivery, and what the user chose.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum DecideRequest {
    /// The store answered.
    Store {
        /// Its verdict.
        verdict: String,
        /// State of the record.
        #[serde(deserialize_with = "nullable")]
        state: Option<String>,
        /// Rest of the lease or the backoff, ms.
        #[serde(deserialize_with = "nullable")]
        retry_after_ms: Option<f64>,
        /// True when the body differs.
        payload_changed: bool,
        /// The user's choices.
        policy: PolicyWord,
    },
    /// Refused before the store.
    Refused {
        /// A rejection or configuration code.
        code: String,
        /// The user's choices.
        policy: PolicyWord,
    },
    /// The store could not answer.
    StoreFailed {
        /// How.
        code: String,
        /// The user's choices.
        policy: PolicyWord,
    },
}

impl DecideRequest {
    /// The same for the core; an unknown word is named in the error, never guessed.
    pub(crate) fn as_core(&self) -> Result<(Event, Policy), String> {
        match self {
            Self::Store {
                verdict,
                state,
                retry_after_ms,
                payload_changed,
                policy,
            } => {
                let reply = Reply {
                    verdict: word(Verdict::parse(verdict), verdict)?,
                    state: state
                        .as_deref()
                        .map(|text| word(State::parse(text), text))
                        .transpose()?,
                    retry_after_ms: retry_after_ms.map(whole_ms),
                    payload_changed: *payload_changed,
                };
                Ok((Event::Answered(reply), policy.as_core()?))
            }
            Self::Refused { code, policy } => {
                let event = RejectionCode::parse(code)
                    .map(Event::Rejected)
                    .or_else(|| ConfigurationCode::parse(code).map(Event::Misconfigured));
                Ok((word(event, code)?, policy.as_core()?))
            }
            Self::StoreFailed { code, policy } => Ok((
                word(StoreFailure::parse(code).map(Event::StoreFailed), code)?,
                policy.as_core()?,
            )),
        }
    }
}

/// What the user chose.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PolicyWord {
    in_progress: String,
    needs_attention: String,
    in_progress_output: OutputWord,
}

impl PolicyWord {
    fn as_core(&self) -> Result<Policy, String> {
        Ok(Policy {
            in_progress: word(Patience::parse(&self.in_progress), &self.in_progress)?,
            needs_attention: word(Patience::parse(&self.needs_attention), &self.needs_attention)?,
            in_progress_output: match self.in_progress_output {
                OutputWord::Duplicate => InProgressOutput::Duplicate,
                OutputWord::Rejected => InProgressOutput::Rejected,
            },
        })
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutputWord {
    Duplicate,
    Rejected,
}

fn word<T>(parsed: Option<T>, text: &str) -> Result<T, String> {
    parsed.ok_or_else(|| format!("malformed request: unknown word '{text}'"))
}

/// The gate's answer for one delivery.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    outcome: &'static str,
    claimed: bool,
    output: &'static str,
    needs_attention: bool,
    message: String,
    response: Response,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    status_code: u16,
    #[serde(serialize_with = "object")]
    headers: Vec<(&'static str, String)>,
    #[serde(serialize_with = "object")]
    body: Vec<(&'static str, BodyValue)>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum BodyValue {
    Bool(bool),
    Text(&'static str),
}

impl From<decision::Decision> for Decision {
    fn from(decided: decision::Decision) -> Self {
        let value = |value| match value {
            Value::Bool(bool) => BodyValue::Bool(bool),
            Value::Text(text) => BodyValue::Text(text),
        };
        Self {
            outcome: decided.outcome.as_str(),
            claimed: decided.claimed,
            output: decided.output.as_str(),
            needs_attention: decided.needs_attention,
            message: decided.message,
            response: Response {
                status_code: decided.response.status_code,
                headers: decided.response.headers,
                body: decided
                    .response
                    .body
                    .into_iter()
                    .map(|(name, content)| (name, value(content)))
                    .collect(),
            },
        }
    }
}

/// Pairs as the members of an object, in order.
fn object<S: Serializer, T: Serialize>(pairs: &[(&'static str, T)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
}
