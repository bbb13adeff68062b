//! NetworkMessages in both encodings.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod allocations;
mod common;
mod damage;
mod foreign;
mod json;
mod json_fields;
mod json_foreign;
mod json_properties;
mod properties;
mod raw_data;
