//! `cargo xtask wasm`: compile, bind, optimise, embed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Failure, bind, compile, optimise, vocabulary};

/// What the module may weigh. n8n loads it into every worker.
const MAX_WASM_BYTES: usize = 150_000;

/// Raise when the steps after compiling change, so that an unchanged module is still rebuilt.
const RECIPE: &str = "4";

pub(crate) fn build() -> Result<(), Failure> {
    vocabulary::write()?;
    let root = root();
    let work = root.join("target/wasm");
    let output = root.join("node-package/src/wasm/generated/gate_wasm.js");
    let compiled = fs::read(compile::module(&root, &work)?)?;

    // Cargo knows whether it had to compile; whether the rest has to run follows from the bytes.
    let (seen, recipe) = (work.join("gate_wasm.seen.wasm"), work.join("gate_wasm.recipe"));
    let unchanged = |path: &Path, now: &[u8]| fs::read(path).is_ok_and(|before| before == now);
    if output.exists() && unchanged(&seen, &compiled) && unchanged(&recipe, RECIPE.as_bytes()) {
        println!("xtask: {} is up to date", shown(&output, &root));
        return Ok(());
    }
    let _ = fs::remove_file(&seen);

    let bound = bind::bind(&compiled)?;
    let optimised = optimise::optimise(&root, &work, &bound.wasm)?;
    if optimised.len() > MAX_WASM_BYTES {
        return Err(format!("the module has {} bytes; {MAX_WASM_BYTES} are allowed", optimised.len()).into());
    }
    let script = bind::embed(&bound.glue, &optimised);
    fs::write(&output, &script)?;
    fs::write(&recipe, RECIPE)?;
    fs::write(&seen, &compiled)?;
    println!(
        "xtask: {} written; module: {} bytes compiled, {} bound, {} optimised; script: {} bytes",
        shown(&output, &root),
        compiled.len(),
        bound.wasm.len(),
        optimised.len(),
        script.len(),
    );
    Ok(())
}

/// The workspace's folder.
pub(crate) fn root() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder.ancestors().nth(2).unwrap_or(crate_folder).to_path_buf()
}

pub(crate) fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
