//! `serval`.
fn main() {}
