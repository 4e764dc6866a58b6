//! What JavaScript sees. Only `node-package/src/wasm/core.ts` calls these: it checks that bytes are bytes.
//!
//! Texts and bytes only, and nothing throws: what is not in the contract is an answer of the type `malformed`, which the
//! wrapper throws. That leaves a module without references to JavaScript objects.

use alloc::string::String;
use alloc::vec::Vec;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::calls::{self, Malformed};
use crate::runtime;

/// Where the last panic happened, since JavaScript sees only `unreachable`; an empty text before there is one.
#[wasm_bindgen(js_name = lastPanic)]
pub fn last_panic() -> String {
    runtime::last_panic()
}

/// `secrets`: one after the other, of these lengths.
#[wasm_bindgen]
pub fn verify(request: &str, body: &[u8], secrets: &[u8], lengths: &[u32]) -> String {
    let mut rest = secrets;
    let mut list = Vec::new();
    for &length in lengths {
        let Some((secret, after)) = rest.split_at_checked(length as usize) else {
            return String::new();
        };
        list.push(secret);
        rest = after;
    }
    answer(calls::verify(request, body, &list))
}

#[wasm_bindgen(js_name = checkSecret)]
pub fn check_secret(provider: &str, secret: &[u8]) -> String {
    calls::check_secret(provider, secret)
}

#[wasm_bindgen(js_name = deriveKey)]
pub fn derive_key(request: &str, body: &[u8]) -> String {
    answer(calls::derive_key(request, body))
}

#[wasm_bindgen(js_name = idempotencyKey)]
pub fn idempotency_key(scope: &str, provider: &str, event_id: &str) -> String {
    calls::idempotency_key(scope, provider, event_id)
}

#[wasm_bindgen]
pub fn canonicalize(request: &str, body: &[u8]) -> String {
    answer(calls::canonicalize(request, body))
}

#[wasm_bindgen(js_name = canonicalDigest)]
pub fn canonical_digest(request: &str, body: &[u8]) -> String {
    answer(calls::canonical_digest(request, body))
}

#[wasm_bindgen]
pub fn decide(request: &str) -> String {
    answer(calls::decide(request))
}

/// Empty where the host has no source of randomness.
#[wasm_bindgen(js_name = newToken)]
pub fn new_token() -> String {
    calls::new_token().unwrap_or_default()
}

#[wasm_bindgen]
pub fn providers() -> String {
    calls::providers()
}

fn answer(answer: Result<String, Malformed>) -> String {
    answer.unwrap_or_else(Malformed::answer)
}
