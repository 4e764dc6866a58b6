//! The JSON reader takes what `serde_json` takes, and refuses the rest.
#![no_main]

use gate_core::json::{Fault, Reader, extract, utf8};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let Ok(text) = utf8(body) else {
        assert!(std::str::from_utf8(body).is_err());
        return;
    };
    let mut reader = Reader::new(text);
    let fault = loop {
        match reader.next_token() {
            Ok(Some(_)) => assert!(reader.position() <= text.len()),
            Ok(None) => break None,
            Err(error) => break Some(error.fault),
        }
    };
    let found = extract(text, &[&["id"], &["event", "type"]]);
    assert_eq!(found.is_ok(), fault.is_none());

    // Two differences on purpose: one byte order mark is skipped, and the limits on depth are not quite the same.
    let without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    let theirs = serde_json::from_str::<serde::de::IgnoredAny>(without_mark);
    match fault {
        None => assert!(theirs.is_ok() || nests_deeply(text), "{theirs:?}"),
        Some(Fault::TooDeep) => {}
        Some(_) => assert!(theirs.is_err()),
    }
});

fn nests_deeply(text: &str) -> bool {
    text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() > 100
}
