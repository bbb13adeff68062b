//! The services as a transport uses them: encoded requests, encoded responses, no transport.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod allocations;
mod common;
mod event_filter;
mod services;
mod startup;
