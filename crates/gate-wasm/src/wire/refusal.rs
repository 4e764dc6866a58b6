//! `Refusal`.

use gate_core::vocabulary::Refusal;
use serde::Serialize;

/// Why a request cannot be judged or accepted.
#[derive(Debug, Serialize)]
pub struct RefusalAnswer {
    r#type: &'static str,
    code: &'static str,
    message: String,
    help: String,
}

impl From<Refusal> for RefusalAnswer {
    fn from(refusal: Refusal) -> Self {
        let (r#type, code, text) = match refusal {
            Refusal::Rejected { code, text } => ("rejected", code.as_str(), text),
            Refusal::Misconfigured { code, text } => ("misconfigured", code.as_str(), text),
        };
        Self {
            r#type,
            code,
            message: text.message,
            help: text.help,
        }
    }
}
