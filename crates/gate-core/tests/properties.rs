//! What must hold for every body and every id, tried on thousands of made-up ones.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a failed assumption stops the test"
)]

mod tree;

use gate_core::canonical::{Mode, canonicalize, digest};
use gate_core::header::Headers;
use gate_core::json::{Reader, extract, utf8};
use gate_core::key::{self, Key, KeyRequest, Sender, Source};
use gate_core::provider::PROVIDERS;
use proptest::prelude::*;
use tree::{Layout, Tree, any_layout, any_tree, number};

fn canonical(mode: Mode, body: &str) -> String {
    let bytes = canonicalize(mode, &[], body.as_bytes()).unwrap_or_else(|refusal| unreachable!("{body}: {refusal:?}"));
    String::from_utf8(bytes).unwrap()
}

fn value_key(parts: &[String]) -> Option<Key> {
    let request = KeyRequest {
        sender: Sender::Known(&PROVIDERS[0]),
        scope: "s",
        source: Source::Value(parts),
        headers: Headers(&[]),
        now_ms: 0,
    };
    key::derive(&request, b"").ok()
}

fn is_json(text: &str) -> bool {
    let mut reader = Reader::new(text);
    loop {
        match reader.next_token() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Parts of JSON in any order, so that right and almost right texts are frequent.
fn json_like() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(","),
        Just(":"),
        Just("\""),
        Just("\"a\""),
        Just("\"b\":"),
        Just("1"),
        Just("-"),
        Just("0"),
        Just("."),
        Just("e"),
        Just("+"),
        Just("null"),
        Just("true"),
        Just(" "),
        Just("\n"),
        Just("\\"),
        Just("\\n"),
        Just("\\u00e9"),
        Just("é"),
        Just("\u{1}"),
        Just("{\"a\":"),
        Just("[1,"),
        Just("\"id\":\"x\""),
    ];
    proptest::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_white_space_and_escapes_do_not_matter(tree in any_tree(), one in any_layout(), other in any_layout()) {
        let (one, other) = (tree.render(one), tree.render(other));
        for mode in Mode::ALL {
            prop_assert_eq!(canonical(*mode, &one), canonical(*mode, &other));
            prop_assert_eq!(
                digest(*mode, &[], one.as_bytes()).unwrap(),
                digest(*mode, &[], other.as_bytes()).unwrap()
            );
        }
    }

    /// The value can be read back from the canonical text, so no two values share one.
    #[test]
    fn the_exact_form_holds_the_whole_value(tree in any_tree(), layout in any_layout()) {
        let text = canonical(Mode::GateExact1, &tree.render(layout));
        prop_assert_eq!(Tree::read(&text), tree.normal());
        prop_assert_eq!(canonical(Mode::GateExact1, &text), text);
    }

    #[test]
    fn numbers_share_a_text_exactly_when_they_are_equal(one in tree::any_number(), other in tree::any_number()) {
        let (a, b) = (canonical(Mode::GateExact1, &one), canonical(Mode::GateExact1, &other));
        prop_assert_eq!(a == b, number(&one) == number(&other), "{} {}", one, other);
    }

    #[test]
    fn every_double_is_written_so_that_it_is_read_back(bits in any::<u64>()) {
        let double = f64::from_bits(bits);
        prop_assume!(double.is_finite());
        let text = canonical(Mode::Rfc8785, &format!("{double:.17e}"));
        let back: f64 = text.parse().unwrap();
        // Both zeros are one number.
        prop_assert_eq!((back + 0.0).to_bits(), (double + 0.0).to_bits());
        prop_assert_eq!(canonical(Mode::GateExact1, &text), text.clone());
        prop_assert!(text.len() <= 25, "{}", text);
    }

    #[test]
    fn the_parser_agrees_with_serde_json(text in json_like()) {
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        prop_assert_eq!(is_json(&text), theirs, "{}", text);
    }

    #[test]
    fn the_parser_agrees_with_serde_json_on_broken_json(
        tree in any_tree(), layout in any_layout(), at in any::<prop::sample::Index>(), with in json_like()
    ) {
        let mut text = tree.render(layout);
        prop_assert!(is_json(&text));
        let places: Vec<_> = text.char_indices().map(|(at, _)| at).collect();
        text.insert_str(places[at.index(places.len())], &with);
        let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        prop_assert_eq!(is_json(&text), theirs, "{}", text);
    }

    #[test]
    fn strings_are_decoded_as_serde_json_does(text in any::<String>(), layout in any_layout()) {
        let body = Tree::Object(vec![("id".to_owned(), Tree::String(text.clone()))]).render(layout);
        let parsed: serde_json::Value = serde_json::from_str(&body).unwrap();
        prop_assert_eq!(parsed["id"].as_str(), Some(text.as_str()));
        prop_assert_eq!(Tree::read(&canonical(Mode::Rfc8785, &body)), Tree::read(&body));
    }

    #[test]
    fn nothing_panics(body in proptest::collection::vec(any::<u8>(), 0..64), json in json_like(), pointer in "(/[a-z0-9~*/-]{0,6})?") {
        for body in [&body, json.as_bytes()] {
            for mode in Mode::ALL {
                let whole = canonicalize(*mode, &[], body);
                let hash = digest(*mode, &[], body).unwrap();
                prop_assert_eq!(whole.is_ok(), hash.form != gate_core::canonical::Form::Raw);
                let _ = canonicalize(*mode, std::slice::from_ref(&pointer), body);
            }
            if let Ok(text) = utf8(body) {
                let _ = extract(text, &[&["id"], &["a", "b"]]);
            }
            let header = [("x".to_owned(), String::from_utf8_lossy(body).into_owned())];
            for provider in PROVIDERS {
                let request = KeyRequest {
                    sender: Sender::Known(provider),
                    scope: "s",
                    source: Source::Provider,
                    headers: Headers(&header),
                    now_ms: 0,
                };
                if let Ok(key) = key::derive(&request, body) {
                    prop_assert!((1..=key::MAX_ID_BYTES).contains(&key.event_id.len()));
                }
            }
        }
    }

    #[test]
    fn composite_ids_meet_only_where_all_parts_do(
        one in proptest::collection::vec("[ab:0-3]{1,3}|parts:1:a1:b|.{1,300}", 1..4),
        other in proptest::collection::vec("[ab:0-3]{1,3}|parts:1:a1:b|.{1,300}", 1..4),
    ) {
        if let (Some(a), Some(b)) = (value_key(&one), value_key(&other)) {
            prop_assert_eq!(a.event_id == b.event_id, one == other);
            prop_assert_eq!(a.idempotency_key == b.idempotency_key, one == other);
            prop_assert!(a.event_id.len() <= key::MAX_ID_BYTES);
        }
    }

    #[test]
    fn moving_a_boundary_between_parts_makes_another_id(a in "[ab:0-9]{1,4}", b in "[ab:0-9]{1,4}", c in "[ab:0-9]{1,4}") {
        let early = value_key(&[a.clone(), format!("{b}{c}")]).unwrap();
        let late = value_key(&[format!("{a}{b}"), c]).unwrap();
        prop_assert_ne!(early.event_id, late.event_id);
    }
}

#[test]
fn a_layout_really_varies() {
    let tree = Tree::Object(vec![
        ("a".to_owned(), Tree::Null),
        ("b".to_owned(), Tree::String("é".to_owned())),
    ]);
    let plain = tree.render(Layout(0));
    assert!(
        (1..50)
            .map(|seed| tree.render(Layout(seed)))
            .filter(|text| *text != plain)
            .count()
            > 40
    );
}
