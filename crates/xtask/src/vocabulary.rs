//! The committed files that follow from Rust: the vocabulary as TypeScript, and the contract beside it.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use gate_core::vocabulary::{ConfigurationCode, Outcome, RejectionCode, State, Verdict};

use crate::Failure;
use crate::wasm::{root, shown};

/// Writes only what changed, so that nothing is rebuilt for nothing.
pub(crate) fn write() -> Result<(), Failure> {
    for (path, text) in files()? {
        if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            fs::write(&path, text)?;
            println!("xtask: {} written", shown(&path, &root()));
        }
    }
    Ok(())
}

/// Fails where a committed file does not say what Rust says.
pub(crate) fn check() -> Result<(), Failure> {
    for (path, text) in files()? {
        if fs::read_to_string(&path).ok() != Some(text) {
            return Err(format!("{} is stale; run `cargo xtask vocabulary`", shown(&path, &root())).into());
        }
    }
    Ok(())
}

fn files() -> Result<[(PathBuf, String); 2], Failure> {
    let root = root();
    let generated = root.join("node-package/src/wasm/generated");
    let contract = fs::read_to_string(root.join("crates/gate-wasm/boundary.d.ts"))?;
    Ok([
        (generated.join("vocabulary.ts"), typescript()),
        (generated.join("boundary.d.ts"), contract),
    ])
}

fn typescript() -> String {
    let mut text =
        String::from("// Written by `cargo xtask wasm` from crates/gate-core/src/vocabulary.rs. Do not edit.\n");
    let tables = [
        ("STATES", "State", words(State::ALL, State::as_str)),
        ("VERDICTS", "Verdict", words(Verdict::ALL, Verdict::as_str)),
        ("OUTCOMES", "Outcome", words(Outcome::ALL, Outcome::as_str)),
        (
            "REJECTION_CODES",
            "RejectionCode",
            words(RejectionCode::ALL, RejectionCode::as_str),
        ),
        (
            "CONFIGURATION_CODES",
            "ConfigurationCode",
            words(ConfigurationCode::ALL, ConfigurationCode::as_str),
        ),
    ];
    for (list, name, words) in tables {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "\nexport const {list} = [\n{words}] as const;\nexport type {name} = (typeof {list})[number];"
        );
    }
    text
}

fn words<T: Copy>(all: &[T], as_str: fn(T) -> &'static str) -> String {
    all.iter().fold(String::new(), |mut text, word| {
        let _ = writeln!(text, "\t'{}',", as_str(*word));
        text
    })
}
