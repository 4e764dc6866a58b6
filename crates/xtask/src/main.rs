//! Builds that cargo alone cannot do.
fn main() {}
