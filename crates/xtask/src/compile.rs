//! Compiling the module, with a toolchain that has the target.
//!
//! xtask itself runs on the host's toolchain. The one with the target may be another (see the script), so a new cargo is
//! started under it; what rustup and cargo put into the environment of `cargo xtask` must not reach that one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;

const TARGET: &str = "wasm32-unknown-unknown";

/// The path of the compiled module.
pub(crate) fn module(root: &Path, target_dir: &Path) -> Result<PathBuf, Failure> {
    // The script prints shell code that chooses the toolchain.
    let build = r#"chosen=$("$1") && eval "$chosen" && shift && exec cargo "$@""#;
    let status = Command::new("bash")
        .args(["-c", build, "bash"])
        .arg(root.join("scripts/setup-wasm-toolchain.sh"))
        .args([
            "build",
            "--release",
            "--locked",
            "--package",
            "gate-wasm",
            "--target",
            TARGET,
            "--target-dir",
        ])
        .arg(target_dir)
        .arg("--config")
        .arg(format!("target.{TARGET}.rustflags = [{}]", remaps().join(", ")))
        .current_dir(root)
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("RUSTC")
        .status()
        .map_err(|error| format!("bash is needed to set up the WebAssembly toolchain: {error}"))?;
    if !status.success() {
        return Err("the module was not compiled".into());
    }
    Ok(target_dir.join(TARGET).join("release/gate_wasm.wasm"))
}

/// The place of a panic names a source file; it should not name this machine's folders. Added to the flags in
/// `.cargo/config.toml`.
fn remaps() -> Vec<String> {
    let home = std::env::home_dir().unwrap_or_default().join(".cargo");
    let cargo_home = std::env::var_os("CARGO_HOME").map_or(home, PathBuf::from);
    let registries = fs::read_dir(cargo_home.join("registry/src"))
        .into_iter()
        .flatten()
        .flatten();
    registries
        .map(|folder| format!("'--remap-path-prefix={}=/crates'", folder.path().display()))
        .collect()
}
