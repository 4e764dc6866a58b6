//! Whatever a sender posts, a key is well formed, and composite ids never meet.
#![no_main]

use arbitrary::Arbitrary;
use gate_core::header::Headers;
use gate_core::key::{self, Key, KeyRequest, Sender, Source};
use gate_core::provider::PROVIDERS;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    provider: u8,
    headers: Vec<(String, String)>,
    /// Values for the headers in which the provider sends its id and type.
    expected_headers: Vec<String>,
    body: Vec<u8>,
    exclude: Vec<String>,
    one: Vec<String>,
    other: Vec<String>,
    slot_ms: u64,
    now_ms: u64,
}

fuzz_target!(|input: Input| {
    let provider = &PROVIDERS[usize::from(input.provider) % PROVIDERS.len()];
    let mut headers = input.headers;
    let names = [
        "x-github-delivery",
        "x-shopify-webhook-id",
        "webhook-id",
        "x-razorpay-event-id",
        "x-github-event",
    ];
    headers.extend(names.into_iter().map(str::to_owned).zip(input.expected_headers));
    let derive = |source: Source<'_>| {
        let request = KeyRequest {
            sender: Sender::Known(provider),
            scope: "workflow:1",
            source,
            headers: Headers(&headers),
            now_ms: input.now_ms,
        };
        key::derive(&request, &input.body).ok().inspect(check)
    };
    derive(Source::Provider);
    derive(Source::BodyDigest {
        exclude: &input.exclude,
    });
    derive(Source::TimeSlot { slot_ms: input.slot_ms });
    let (one, other) = (derive(Source::Value(&input.one)), derive(Source::Value(&input.other)));
    if let (Some(one), Some(other)) = (one, other) {
        assert_eq!(one.event_id == other.event_id, input.one == input.other);
    }
});

fn check(key: &Key) {
    assert!((1..=key::MAX_ID_BYTES).contains(&key.event_id.len()));
    assert!(!key.event_id.contains('\0'));
    assert_eq!(key.idempotency_key.len(), 44);
    assert_eq!(key.body_digest.len(), 71);
    assert!(key.event_type.as_ref().is_none_or(|text| !text.is_empty()));
}
