//! Tests of commands with the real program that need no other process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod analyze;
mod bench;
