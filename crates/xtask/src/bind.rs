//! The JavaScript side: wasm-bindgen as a library (its version is in Cargo.lock), and one file that needs no other.

use base64ct::{Base64, Encoding};
use wasm_bindgen_cli_support::Bindgen;

use crate::Failure;

/// A module and the script that talks to it.
pub(crate) struct Bound {
    pub(crate) wasm: Vec<u8>,
    pub(crate) glue: String,
}

pub(crate) fn bind(compiled: &[u8]) -> Result<Bound, Failure> {
    let mut output = Bindgen::new()
        .input_bytes("gate_wasm", compiled.to_vec())
        // A plain script that defines one name: put into a function, each call gets an instance with glue of its own.
        .no_modules(true)?
        .no_modules_global(GLOBAL)?
        .omit_default_module_path(true)
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate_output()?;
    Ok(Bound {
        wasm: output.wasm_mut().emit_wasm(),
        glue: output.js().to_owned(),
    })
}

/// One CommonJS file: no file system, nothing happens when it is loaded.
pub(crate) fn embed(glue: &str, wasm: &[u8]) -> String {
    let base64 = Base64::encode_string(wasm);
    format!(
        "// Written by `cargo xtask wasm`. Do not edit.
'use strict';

let compiled;

/** A fresh instance: its functions, and its memory. */
exports.instantiate = function instantiate() {{
\tcompiled ??= new WebAssembly.Module(Buffer.from(BASE64, 'base64'));
\t{glue}
\tconst {{ memory }} = {GLOBAL}.initSync({{ module: compiled }});
\treturn {{ functions: {GLOBAL}, memory }};
}};

const BASE64 =
\t'{base64}';
"
    )
}

const GLOBAL: &str = "gate_wasm";
