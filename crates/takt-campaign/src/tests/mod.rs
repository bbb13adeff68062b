//! Tests of whole campaigns: plans, interrupts, shares, repeats.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

pub(crate) mod folder;
mod interrupts;
mod lab;
mod plans;
mod receivers;
mod repeats;
mod shares;
