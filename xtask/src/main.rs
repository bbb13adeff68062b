//! Code generation and chores.
fn main() {}
