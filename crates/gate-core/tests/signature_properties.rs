//! What must hold for any request, not only for those somebody thought of.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::string_slice,
    reason = "a failed assumption stops the test"
)]

mod vectors;

use std::sync::LazyLock;

use gate_core::encoding::Encoding;
use gate_core::header::Headers;
use gate_core::provider::{PROVIDERS, Provider};
use gate_core::secret::{Key, SecretForm};
use gate_core::signature::{Algorithm, CustomScheme, Request, TimeUnit, verify, verify_custom};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use vectors::{Vector, custom_scheme, load};

fn accepts(vector: &Vector, headers: &[(String, String)], body: &[u8]) -> bool {
    let request = Request {
        headers: Headers(headers),
        body,
        now_ms: vector.now_ms,
        tolerance_ms: None,
    };
    match custom_scheme(vector) {
        Some(custom) => verify_custom(&custom, &request, &vector.secrets()).is_ok(),
        None => verify(Provider::find(&vector.provider).unwrap(), &request, &vector.secrets()).is_ok(),
    }
}

/// One valid request of each provider, the first in the file.
static ONE_OF_EACH: LazyLock<Vec<Vector>> = LazyLock::new(|| {
    let mut chosen: Vec<Vector> = Vec::new();
    for vector in load()
        .into_iter()
        .filter(|vector| vector.valid && !vector.body.is_empty())
    {
        if chosen.iter().all(|other| other.provider != vector.provider) {
            chosen.push(vector);
        }
    }
    assert_eq!(
        chosen.len(),
        PROVIDERS.len(),
        "every row but `none`, and the custom scheme"
    );
    chosen
});

/// Headers that name the right things and say anything.
fn any_headers() -> impl Strategy<Value = Vec<(String, String)>> {
    let names: Vec<&'static str> = PROVIDERS
        .iter()
        .flat_map(|provider| provider.scheme.into_iter().flat_map(|scheme| scheme.families))
        .flat_map(|family| [Some(family.signature), family.timestamp, family.id])
        .flatten()
        .chain(["x-github-delivery", "x-razorpay-event-id", "x-signature"])
        .collect();
    let value = prop_oneof![
        any::<String>(),
        "(t|ts|v0|v1|h1|v1a|sha256)?[=,]?[0-9a-f=,;. ]{0,80}",
        "(t=1760000000,)?(v1=[0-9a-f]{64},?){0,20}",
        "(v1a?,[A-Za-z0-9+/]{43}= ?){0,20}",
        Just("1760000000".to_owned()),
    ];
    proptest::collection::vec((select(names).prop_map(str::to_owned), value), 0..6)
}

proptest! {
    #[test]
    fn one_byte_changed_anywhere_in_the_body_is_refused(at in any::<Index>(), change in 1..=255_u8) {
        for vector in ONE_OF_EACH.iter() {
            let mut body = vector.body.clone();
            let at = at.index(body.len());
            body[at] ^= change;
            prop_assert!(!accepts(vector, &vector.headers, &body), "{} byte {at}", vector.title());
        }
    }

    #[test]
    fn a_byte_more_or_less_is_refused(at in any::<Index>(), byte in any::<u8>()) {
        for vector in ONE_OF_EACH.iter() {
            let mut longer = vector.body.clone();
            longer.insert(at.index(vector.body.len() + 1), byte);
            let mut shorter = vector.body.clone();
            shorter.remove(at.index(vector.body.len()));
            prop_assert!(!accepts(vector, &vector.headers, &longer), "{}", vector.title());
            prop_assert!(!accepts(vector, &vector.headers, &shorter), "{}", vector.title());
        }
    }

    /// Of the headers, the ones that sign: another character in the signature, the time or the signed id.
    #[test]
    fn one_character_changed_in_what_signs_is_refused(at in any::<Index>(), c in "[0-9a-zA-Z.,=+-]") {
        for vector in ONE_OF_EACH.iter() {
            let signing: Vec<&str> = match Provider::find(&vector.provider).and_then(|provider| provider.scheme) {
                Some(scheme) => {
                    let names = scheme.families.iter().flat_map(|family| [Some(family.signature), family.timestamp, family.id]);
                    names.flatten().collect()
                }
                None => vec!["signature"],
            };
            for (number, (name, value)) in vector.headers.iter().enumerate() {
                let at = at.index(value.len());
                if !signing.contains(&name.to_ascii_lowercase().as_str()) || value[at..].starts_with(&c) {
                    continue;
                }
                let mut headers = vector.headers.clone();
                headers[number].1.replace_range(at..=at, &c);
                prop_assert!(!accepts(vector, &headers, &vector.body), "{} {name}: {}", vector.title(), headers[number].1);
            }
        }
    }

    #[test]
    fn any_headers_are_judged_and_none_is_accepted(headers in any_headers(), body in any::<Vec<u8>>()) {
        for provider in PROVIDERS {
            let request = Request { headers: Headers(&headers), body: &body, now_ms: 1_760_000_000_000, tolerance_ms: None };
            let secrets: [&[u8]; 2] = [b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b"whsec_bm90IHRoZSByaWdodCBvbmUgYXQgYWxs"];
            prop_assert!(verify(provider, &request, &secrets).is_err());
        }
    }

    #[test]
    fn any_secret_is_read_or_refused_and_never_repeated(secret in any::<Vec<u8>>(), text in "\\PC{12,40}") {
        for form in [SecretForm::Text, SecretForm::Hex, SecretForm::Base64, SecretForm::StandardWebhooks] {
            let _ = Key::parse(&secret, form, "Stripe");
            if let Err(refusal) = Key::parse(text.as_bytes(), form, "Stripe") {
                let repeats = format!("{refusal:?}").contains(&text);
                prop_assert!(!repeats);
            }
        }
    }

    #[test]
    fn any_description_of_a_scheme_is_used_or_refused(
        template in "(\\{body\\}|\\{id\\}|\\{timestamp\\}|[.:{}]|.){0,6}",
        header in "[ -~]{0,12}",
        prefix in any::<String>(),
        other in proptest::option::of("[a-z-]{0,6}"),
        value in any::<String>(),
    ) {
        let custom = CustomScheme {
            signature_header: header.clone(),
            algorithm: Algorithm::HmacSha512,
            encoding: Encoding::Base64Url,
            prefix,
            timestamp_header: other.clone(),
            timestamp_unit: TimeUnit::Milliseconds,
            id_header: other.map(|name| name + "-id"),
            template,
            secret: SecretForm::Text,
        };
        let headers = [(header, value)];
        let request = Request { headers: Headers(&headers), body: b"x", now_ms: 0, tolerance_ms: Some(1) };
        prop_assert!(verify_custom(&custom, &request, &[b"secret"]).is_err());
    }
}
