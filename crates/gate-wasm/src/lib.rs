//! The gate core as a WebAssembly module.
