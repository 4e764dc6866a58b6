//! Builds that cargo alone cannot do.
//!
//! ```text
//! cargo xtask wasm                  the WebAssembly module and what TypeScript needs beside it
//! cargo xtask vocabulary [--check]  only the committed files; --check fails where they are stale
//! ```

mod bind;
mod compile;
mod optimise;
mod vocabulary;
mod wasm;

use std::process::ExitCode;

/// What went wrong, for a person.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["wasm"] => wasm::build(),
        ["vocabulary"] => vocabulary::write(),
        ["vocabulary", "--check"] => vocabulary::check(),
        _ => Err("usage: cargo xtask wasm | cargo xtask vocabulary [--check]".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}
