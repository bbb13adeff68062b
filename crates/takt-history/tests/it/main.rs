//! Histories in a file: queries, aggregates, bounds and crashes.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod aggregates;
mod bounds;
mod crash;
mod database_files;
mod files;
mod queries;
mod support;
