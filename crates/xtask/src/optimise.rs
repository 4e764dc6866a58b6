//! `wasm-opt` from the npm package `binaryen`, whose version package-lock.json pins.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Failure;

pub(crate) fn optimise(root: &Path, work: &Path, wasm: &[u8]) -> Result<Vec<u8>, Failure> {
    let tool = root.join("node_modules/.bin/wasm-opt");
    if !tool.exists() {
        return Err("wasm-opt is missing; run `npm ci` first".into());
    }
    let (before, after) = (work.join("gate_wasm.bound.wasm"), work.join("gate_wasm.optimised.wasm"));
    fs::write(&before, wasm)?;
    let status = Command::new(tool)
        // Functions that are called often get the short numbers.
        .args(["-Oz", "--converge", "--reorder-functions"])
        .arg(&before)
        .arg("-o")
        .arg(&after)
        .status()?;
    if !status.success() {
        return Err("wasm-opt failed".into());
    }
    Ok(fs::read(after)?)
}
