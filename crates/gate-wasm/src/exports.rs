//! What JavaScript sees. Only `node-package/src/wasm/core.ts` calls these: it checks that bytes are bytes.

use std::cell::RefCell;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::calls::{self, Malformed};

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps the place of a panic, since JavaScript sees only `unreachable`. The message is left out: it could quote a body.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        LAST_PANIC.with_borrow_mut(|last| *last = place);
    }));
}

/// Where the last panic happened, or an empty text.
#[wasm_bindgen(js_name = lastPanic)]
pub fn last_panic() -> String {
    LAST_PANIC.with_borrow(Clone::clone)
}

#[wasm_bindgen]
pub fn verify(request: &str, body: &[u8], secrets: Vec<Uint8Array>) -> Result<String, JsError> {
    let secrets: Vec<Vec<u8>> = secrets.iter().map(Uint8Array::to_vec).collect();
    let secrets: Vec<&[u8]> = secrets.iter().map(Vec::as_slice).collect();
    calls::verify(request, body, &secrets).map_err(thrown)
}

#[wasm_bindgen(js_name = checkSecret)]
pub fn check_secret(provider: &str, secret: &[u8]) -> String {
    calls::check_secret(provider, secret)
}

#[wasm_bindgen(js_name = deriveKey)]
pub fn derive_key(request: &str, body: &[u8]) -> Result<String, JsError> {
    calls::derive_key(request, body).map_err(thrown)
}

/// A `Uint8Array`, or a refusal as JSON text.
#[wasm_bindgen]
pub fn canonicalize(request: &str, body: &[u8]) -> Result<JsValue, JsError> {
    match calls::canonicalize(request, body).map_err(thrown)? {
        Ok(bytes) => Ok(Uint8Array::from(bytes.as_slice()).into()),
        Err(refusal) => Ok(refusal.into()),
    }
}

#[wasm_bindgen(js_name = canonicalDigest)]
pub fn canonical_digest(request: &str, body: &[u8]) -> Result<String, JsError> {
    calls::canonical_digest(request, body).map_err(thrown)
}

#[wasm_bindgen]
pub fn decide(request: &str) -> Result<String, JsError> {
    calls::decide(request).map_err(thrown)
}

#[wasm_bindgen(js_name = newToken)]
pub fn new_token() -> Result<String, JsError> {
    calls::new_token().map_err(thrown)
}

#[wasm_bindgen]
pub fn providers() -> String {
    calls::providers()
}

fn thrown(Malformed(message): Malformed) -> JsError {
    JsError::new(&message)
}
