//! Every request of `tests/vectors/signatures.json`: is the verdict on the signature right?
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed assumption stops the test"
)]

mod vectors;

use gate_core::header::Headers;
use gate_core::provider::Provider;
use gate_core::signature::{Request, verify, verify_custom};
use gate_core::vocabulary::Refusal;
use vectors::{Vector, custom_scheme, load};

/// Index of the secret that matched, or the refusal.
fn judge(vector: &Vector, secrets: &[&[u8]]) -> Result<usize, Refusal> {
    let headers = Headers(&vector.headers);
    let request = Request {
        headers,
        body: &vector.body,
        now_ms: vector.now_ms,
        tolerance_ms: None,
    };
    match custom_scheme(vector) {
        Some(custom) => verify_custom(&custom, &request, secrets).map(|verified| verified.secret_index),
        None => {
            verify(Provider::find(&vector.provider).unwrap(), &request, secrets).map(|verified| verified.secret_index)
        }
    }
}

#[test]
fn every_verdict_is_right() {
    let vectors = load();
    let misses: Vec<_> = vectors
        .iter()
        .filter(|vector| judge(vector, &vector.secrets()).is_ok() != vector.valid)
        .map(|vector| format!("{}: {}", vector.title(), vector.reason))
        .collect();
    assert_eq!(misses, Vec::<String>::new());
    assert!(vectors.iter().filter(|vector| vector.valid).count() > 80 && vectors.len() > 300);
}

/// Rolling a secret: the right one may stand anywhere in the list, and its place is reported.
#[test]
fn the_right_secret_is_found_wherever_it_stands() {
    for vector in load()
        .iter()
        .filter(|vector| vector.valid && vector.secrets.len() == 1 && !vector.is_large())
    {
        let right = vector.secrets[0].as_bytes();
        // Right in form for every scheme, and the secret of no vector.
        let other = b"whsec_bm90IHRoZSByaWdodCBvbmUgYXQgYWxs".as_slice();
        for (at, secrets) in [[right, other, other], [other, right, other], [other, other, right]]
            .iter()
            .enumerate()
        {
            assert_eq!(judge(vector, secrets), Ok(at), "{}", vector.title());
        }
        assert!(judge(vector, &[other]).is_err(), "{}", vector.title());
    }
}

/// An empty secret beside a good one would let anyone sign, so it is a refusal, not a member to skip.
#[test]
fn an_empty_secret_beside_a_good_one_is_refused() {
    for vector in load().iter().filter(|vector| vector.valid && !vector.is_large()) {
        let mut secrets = vector.secrets();
        secrets.push(b"");
        for secrets in [&secrets[..], &[]] {
            assert!(
                matches!(judge(vector, secrets), Err(Refusal::Misconfigured { .. })),
                "{}",
                vector.title()
            );
        }
    }
}

/// What a refusal says may reach logs and the sender.
#[test]
fn no_refusal_repeats_a_secret_a_signature_or_the_body() {
    for vector in load().iter().filter(|vector| !vector.valid) {
        let Err(Refusal::Rejected { text, .. } | Refusal::Misconfigured { text, .. }) =
            judge(vector, &vector.secrets())
        else {
            panic!("{} was accepted", vector.title());
        };
        let said = format!("{} {}", text.message, text.help);
        assert!(!text.message.is_empty() && !text.help.is_empty());
        let body = String::from_utf8_lossy(&vector.body);
        let values = vector.headers.iter().map(|(_, value)| value.as_str());
        for hidden in vector.secrets.iter().map(String::as_str).chain(values).chain([&*body]) {
            // Shorter texts ("undefined", "2") may be words of an honest sentence.
            let hidden = hidden.trim();
            assert!(
                hidden.len() < 12 || !said.contains(hidden),
                "{}: {said}",
                vector.title()
            );
        }
    }
}
