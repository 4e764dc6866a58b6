//! Every vector of `tests/vectors/jcs`: is the canonical form right, byte for byte?
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed assumption stops the test"
)]

use std::path::PathBuf;

use gate_core::canonical::{Mode, canonicalize};
use gate_core::encoding::from_base64;
use gate_core::json::MAX_DEPTH;
use gate_core::vocabulary::{Refusal, RejectionCode};
use serde_json::Value;

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/jcs")).join(name)
}

fn json(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(path(name)).unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn canonical(mode: Mode, body: &[u8]) -> Result<String, Refusal> {
    canonicalize(mode, &[], body).map(|bytes| String::from_utf8(bytes).unwrap())
}

fn strings(value: &Value) -> Vec<String> {
    list(value).iter().map(|item| text(item).to_owned()).collect()
}

#[test]
fn the_reference_data_comes_out_byte_for_byte() {
    let mut files = 0;
    for entry in std::fs::read_dir(path("input")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let input = std::fs::read(path("input").join(&name)).unwrap();
        let output = std::fs::read_to_string(path("output").join(&name)).unwrap();
        let hex = std::fs::read_to_string(path("outhex").join(name.replace(".json", ".txt"))).unwrap();
        assert_eq!(canonical(Mode::Rfc8785, &input).unwrap(), output, "{name}");
        let digits: Vec<_> = output.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digits, hex.split_whitespace().collect::<Vec<_>>(), "{name}");
        files += 1;
    }
    assert_eq!(files, 6);
}

#[test]
fn the_examples_of_the_rfc_come_out() {
    for example in list(&json("rfc_examples.json")) {
        let output = canonical(Mode::Rfc8785, text(&example["input"]).as_bytes()).unwrap();
        assert_eq!(output, text(&example["output"]), "{}", example["name"]);
    }
}

#[test]
fn doubles_are_written_as_ecmascript_does() {
    let table = json("number_table_appendix_b.json");
    let appendix = list(&table)
        .iter()
        .filter(|row| row["json"].is_string())
        .map(|row| (text(&row["ieee754"]).to_owned(), text(&row["json"]).to_owned()));
    let sequence = std::fs::read_to_string(path("es6numbers_4000.csv")).unwrap();
    let lines = sequence.lines().map(|line| {
        let (bits, expected) = line.split_once(',').unwrap();
        (bits.to_owned(), expected.to_owned())
    });

    let mut count = 0;
    for (bits, expected) in appendix.chain(lines) {
        let double = f64::from_bits(u64::from_str_radix(&bits, 16).unwrap());
        // 17 digits behind the point are more than enough to find the double again, and no help in shortening it.
        let long = format!("{double:.17e}");
        assert_eq!(canonical(Mode::Rfc8785, long.as_bytes()).unwrap(), expected, "{bits}");
        for mode in Mode::ALL {
            assert_eq!(canonical(*mode, expected.as_bytes()).unwrap(), expected, "{bits}");
        }
        count += 1;
    }
    assert_eq!(count, 24 + 4000);
}

#[test]
fn edge_cases_follow_the_rfc_except_where_the_gate_says_otherwise() {
    for case in list(&json("edge_cases.json")) {
        let name = text(&case["name"]);
        let input = from_base64(text(&case["input_base64"])).unwrap();
        let outcome = canonical(Mode::Rfc8785, &input);
        let depth = input.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
        if case.get("gate_policy").is_none() || (name.starts_with("deep/") && depth <= MAX_DEPTH) {
            assert_eq!(outcome.ok().as_deref(), case["rfc8785"]["ok"].as_str(), "{name}");
        } else if name.starts_with("deep/") {
            let Err(Refusal::Rejected { code, .. }) = outcome else {
                unreachable!("{name} was accepted")
            };
            assert_eq!(code, RejectionCode::BodyTooDeep, "{name}");
        } else {
            assert_eq!(name, "doc/bom", "a policy that no test knows");
            assert_eq!(outcome.unwrap(), r#"{"a":1}"#);
        }
    }
}

#[test]
fn big_integers_never_merge() {
    let file = json("bigint_collisions.json");
    for group in ["must_differ_or_not", "must_be_equal"] {
        for pair in list(&file[group]) {
            let (a, b) = (text(&pair["a"]), text(&pair["b"]));
            let collide = |mode| canonical(mode, a.as_bytes()).unwrap() == canonical(mode, b.as_bytes()).unwrap();
            assert_eq!(
                Some(collide(Mode::Rfc8785)),
                pair["strict_jcs_collides"].as_bool(),
                "{a} {b}"
            );
            if let Some(expected) = pair["gate_must_collide"].as_bool() {
                assert_eq!(collide(Mode::GateExact1), expected, "{a} {b}");
            }
            if let (Some(strict_a), Some(strict_b)) = (pair["strict_jcs_a"].as_str(), pair["strict_jcs_b"].as_str()) {
                assert_eq!(canonical(Mode::Rfc8785, a.as_bytes()).unwrap(), strict_a);
                assert_eq!(canonical(Mode::Rfc8785, b.as_bytes()).unwrap(), strict_b);
            }
        }
    }
}

#[test]
fn attempts_of_one_event_agree_once_the_moving_fields_are_left_out() {
    let file = json("retry_pairs.json");
    let form = |value: &Value, exclude: &[String]| {
        canonicalize(Mode::GateExact1, exclude, value.to_string().as_bytes()).unwrap()
    };
    for pair in list(&file["pairs"]) {
        let exclude = strings(&pair["exclude"]);
        let (first, second) = (&pair["attempt1"], &pair["attempt2"]);
        let agree = form(first, &exclude) == form(second, &exclude);
        assert_eq!(Some(agree), pair["same_key"].as_bool(), "{}", pair["provider"]);
        assert_ne!(form(first, &[]), form(second, &[]), "{}", pair["provider"]);
    }
    for pair in list(&file["distinct"]) {
        let exclude = strings(&pair["exclude"]);
        let equal = form(&pair["a"], &exclude) == form(&pair["b"], &exclude);
        assert_eq!(Some(equal), pair["canonical_equal"].as_bool(), "{}", pair["why"]);
    }
}
