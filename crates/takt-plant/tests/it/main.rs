//! Scenarios of plants.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod example;
mod faults;
mod hostile;
mod payload;
mod readers;
mod receivers;
mod support;
