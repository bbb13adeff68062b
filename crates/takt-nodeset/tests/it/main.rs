//! NodeSets: published, hostile and refused ones.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod hostile;
mod parse;
mod published;
mod refused;
mod structures;
mod values;
