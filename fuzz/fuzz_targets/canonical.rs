//! A canonical form is a fixed point, means what the body meant, and is what the digest is taken over.
#![no_main]

use gate_core::canonical::{Form, Mode, canonicalize, digest};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &[u8])| {
    let (pointer, body) = input;
    for &mode in Mode::ALL {
        let digested = digest(mode, &[], body);
        let Ok(form) = canonicalize(mode, &[], body) else {
            assert!(digested.is_err() || digested.is_ok_and(|digest| digest.form == Form::Raw));
            continue;
        };
        assert_eq!(canonicalize(mode, &[], &form).as_ref(), Ok(&form));
        assert_eq!(digest(mode, &[], &form), digested);
        // A double has at most 25 characters, and no escape is longer than six for one byte.
        assert!(form.len() <= body.len().saturating_mul(25));

        let mut without_mark = body;
        if let Some(rest) = body.strip_prefix("\u{feff}".as_bytes()) {
            without_mark = rest;
        }
        if let (Mode::Rfc8785, Ok(before)) = (mode, serde_json::from_slice::<serde_json::Value>(without_mark)) {
            let after: serde_json::Value = serde_json::from_slice(&form).expect("canonical JSON is JSON");
            assert_eq!(without_numbers(before), without_numbers(after));
        }

        let pointers = [pointer.to_owned()];
        if let Ok(part) = canonicalize(mode, &pointers, body) {
            assert!(part.len() <= form.len());
        }
    }
});

/// `serde_json` rounds some numbers wrongly without one of its features.
fn without_numbers(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(_) => Value::from(0),
        Value::Array(elements) => elements.into_iter().map(without_numbers).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, without_numbers(value)))
            .collect(),
        other => other,
    }
}
