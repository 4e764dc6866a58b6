//! The gate's core as a WebAssembly module: wire types and exported functions, no decisions.
//!
//! The contract is `boundary.d.ts` beside this crate. Requests and answers cross as JSON text, bodies and secrets as bytes.
//! Neither `serde-wasm-bindgen` nor `serde_json` reads them, but the core's own strict reader:
//! - the host tests run exactly the code that the module runs;
//! - unknown fields are really refused (`serde-wasm-bindgen` reads only the fields it knows from an object);
//! - half a surrogate pair arrives as such and can be refused, instead of turning into U+FFFD and making two ids equal;
//! - serde was two fifths of the module: 143 of 338 KB.

#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

pub mod calls;
#[cfg(target_arch = "wasm32")]
#[expect(unreachable_pub, reason = "`wasm_bindgen` asks for `pub`")]
mod exports;
#[cfg(target_arch = "wasm32")]
mod runtime;
mod wire;
