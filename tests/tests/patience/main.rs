//! Tests that take their time: attacks, crashes, many Providers, endurance, stalls, and the tutorial's commands from a clean clone.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod attack;
mod clock;
mod kills;
mod many_providers;
mod stalls;
mod survival;
#[cfg(feature = "tutorial")]
mod tutorial;
