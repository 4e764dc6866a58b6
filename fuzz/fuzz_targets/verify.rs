//! Nobody gets in without the secret, whatever the headers and the body are; and nothing panics on the way.
#![no_main]

use arbitrary::Arbitrary;
use gate_core::header::Headers;
use gate_core::provider::PROVIDERS;
use gate_core::signature::{Request, verify};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    provider: u8,
    headers: Vec<(String, String)>,
    /// Values for the headers that the scheme looks at.
    expected_headers: Vec<String>,
    body: Vec<u8>,
    /// Also tried as a secret, which may be anything that a user pastes.
    secret: Vec<u8>,
    now_ms: u64,
    tolerance_ms: Option<u64>,
}

const SECRETS: [&[u8]; 2] = [
    b"a secret that the fuzzer cannot know",
    b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
];

fuzz_target!(|input: Input| {
    let provider = &PROVIDERS[usize::from(input.provider) % PROVIDERS.len()];
    let families = provider.scheme.map_or(&[][..], |scheme| scheme.families);
    let names = families
        .iter()
        .flat_map(|family| [Some(family.signature), family.timestamp, family.id])
        .flatten();
    let mut headers = input.headers;
    headers.extend(names.map(str::to_owned).zip(input.expected_headers));
    let request = Request {
        headers: Headers(&headers),
        body: &input.body,
        now_ms: input.now_ms,
        tolerance_ms: input.tolerance_ms,
    };
    let _ = verify(provider, &request, &[&input.secret]);
    for secret in SECRETS {
        assert!(verify(provider, &request, &[secret]).is_err());
    }
});
