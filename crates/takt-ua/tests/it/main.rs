//! Encodings of all types, in binary and JSON.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod allocations;
mod bytes_with;
mod common;
mod described;
mod descriptions;
mod foreign;
mod json;
mod json_encoding;
mod json_encoding_foreign;
mod json_encoding_properties;
mod json_text;
mod round_trip;
mod structures;
mod wire;
