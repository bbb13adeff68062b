//! Plans of networks, and what they configure.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod apply;
mod fake_kernel;
mod golden;
mod groups;
mod kernel;
mod network;
