//! The gate's core as a WebAssembly module: wire types and exported functions, no decisions.
//!
//! The contract is `boundary.d.ts` beside this crate. Requests and answers cross as JSON text, bodies and secrets as bytes.
//! JSON rather than `serde-wasm-bindgen`, because
//! - the host tests then run exactly the code that the module runs: same parser, same types;
//! - unknown fields are really refused (`serde-wasm-bindgen` reads only the fields it knows from an object);
//! - a lone surrogate arrives as one and can be refused, instead of turning into U+FFFD and making two ids equal;
//! - the module is a third smaller.

pub mod calls;
#[cfg(target_arch = "wasm32")]
#[expect(unreachable_pub, reason = "`wasm_bindgen` asks for `pub`")]
mod exports;
pub mod wire;
