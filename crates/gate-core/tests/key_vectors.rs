//! Every rightly signed request of `tests/vectors/signatures.json`: which event is it?
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a failed assumption stops the test"
)]

mod vectors;

use gate_core::header::Headers;
use gate_core::key::{self, Key, KeyRequest, Sender, Source};
use gate_core::provider::Provider;
use gate_core::vocabulary::Refusal;
use vectors::{Vector, custom_scheme, load};

fn sender(vector: &Vector) -> Sender<'_> {
    match custom_scheme(vector) {
        Some(_) => Sender::Custom {
            id_header: None,
            id_signed: false,
        },
        None => Sender::Known(Provider::find(&vector.provider).unwrap()),
    }
}

fn derive(vector: &Vector, source: Source<'_>) -> Result<Key, Refusal> {
    let request = KeyRequest {
        sender: sender(vector),
        scope: "workflow:1",
        source,
        headers: Headers(&vector.headers),
        now_ms: vector.now_ms,
    };
    key::derive(&request, &vector.body)
}

#[test]
fn every_event_has_the_id_that_its_provider_gave_it() {
    let vectors = load();
    let signed: Vec<_> = vectors.iter().filter(|vector| vector.valid).collect();
    assert!(signed.len() > 80);
    for vector in signed {
        let found = derive(vector, Source::Provider).ok();
        if found.as_ref().is_some_and(|key| key.hashed) {
            // The vector asks to refuse a long id or to hash it, and not to cut it off.
            assert_eq!(vector.name, "extract_id_too_long");
            continue;
        }
        assert_eq!(
            found.map(|key| key.event_id),
            vector.event_id,
            "{}: {}",
            vector.title(),
            vector.reason
        );
    }
}

#[test]
fn every_event_has_the_type_that_its_provider_gave_it() {
    // A body that is empty or not text names no event; the vectors give it no type, though a header may still hold one.
    let names_an_event = |vector: &&Vector| !vector.body.is_empty() && std::str::from_utf8(&vector.body).is_ok();
    for vector in load().iter().filter(|vector| vector.valid).filter(names_an_event) {
        let found = key::event_type(sender(vector), Headers(&vector.headers), &vector.body);
        assert_eq!(found, vector.event_type, "{}", vector.title());
    }
}
