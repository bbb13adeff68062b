//! Tests of the crate from outside.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod folder;
mod interrupts;
mod plans;
mod repeats;
mod shares;
