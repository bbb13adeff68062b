//! The command line of Takt.
fn main() {}
