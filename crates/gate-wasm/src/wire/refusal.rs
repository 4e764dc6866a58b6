//! `Refusal`.

use alloc::string::String;

use gate_core::vocabulary::Refusal;

use super::answer::Answer;

pub(crate) fn answer(refusal: &Refusal) -> String {
    let (kind, code, text) = match refusal {
        Refusal::Rejected { code, text } => ("rejected", code.as_str(), text),
        Refusal::Misconfigured { code, text } => ("misconfigured", code.as_str(), text),
    };
    Answer::of_type(kind)
        .text("code", code)
        .text("message", &text.message)
        .text("help", &text.help)
        .end()
}
