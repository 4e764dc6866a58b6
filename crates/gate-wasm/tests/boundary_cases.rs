//! The cases of `tests/boundary/cases.json` on the host; `tests/boundary/cases.test.ts` runs them through the built module.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failed assumption stops the test"
)]

use gate_wasm::calls::{self, Malformed};
use serde_json::Value;

#[test]
fn every_case_is_answered_as_it_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/boundary/cases.json");
    let text = std::fs::read_to_string(path).unwrap();
    // A case with half a surrogate pair cannot be a `Value`: the requests are cut out of the text as they stand.
    let cases: Vec<Case<'_>> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() > 30);
    for case in cases {
        let answer: Value = serde_json::from_str(&call(&case)).unwrap();
        for (name, expected) in case.answer.as_object().unwrap() {
            assert_eq!(&answer[name], expected, "{}: {name} of {answer}", case.name);
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case<'a> {
    name: String,
    call: String,
    #[serde(borrow, default)]
    request: Option<&'a serde_json::value::RawValue>,
    #[serde(default)]
    provider: String,
    #[serde(default)]
    body: String,
    #[serde(default)]
    secrets: Vec<String>,
    answer: Value,
}

fn call(case: &Case<'_>) -> String {
    let request = case.request.map_or("", serde_json::value::RawValue::get);
    let body = case.body.as_bytes();
    let secrets: Vec<&[u8]> = case.secrets.iter().map(String::as_bytes).collect();
    let answer = match case.call.as_str() {
        "verify" => calls::verify(request, body, &secrets),
        "checkSecret" => Ok(calls::check_secret(&case.provider, secrets[0])),
        "deriveKey" => calls::derive_key(request, body),
        "canonicalize" => calls::canonicalize(request, body),
        "canonicalDigest" => calls::canonical_digest(request, body),
        "decide" => calls::decide(request),
        other => unreachable!("{other}"),
    };
    answer.unwrap_or_else(Malformed::answer)
}

#[test]
fn a_token_is_128_random_bits() {
    let (one, other) = (calls::new_token().unwrap(), calls::new_token().unwrap());
    assert!(one != other && one.len() == 32 && one.bytes().all(|c| c.is_ascii_hexdigit()));
}

#[test]
fn every_provider_is_listed_with_all_that_is_in_the_contract() {
    let rows: Vec<Value> = serde_json::from_str(&calls::providers()).unwrap();
    assert_eq!(rows.len(), gate_core::provider::PROVIDERS.len());
    let contract = include_str!("../boundary.d.ts");
    let fields = contract
        .split("export interface ProviderInfo {")
        .nth(1)
        .unwrap()
        .split("\n}")
        .next()
        .unwrap();
    let fields: Vec<&str> = fields
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_once(": "))
        .map(|(name, _)| name)
        .collect();
    for row in rows {
        let mut names: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        let mut fields = fields.clone();
        fields.retain(|name| name.bytes().all(|c| c.is_ascii_alphanumeric()));
        fields.sort_unstable();
        assert_eq!(names, fields, "{}", row["key"]);
    }
}
