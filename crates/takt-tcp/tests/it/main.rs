//! Clients and servers over opc.tcp.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod allocations;
mod connections;
mod crowds;
mod deferred;
mod driver;
mod elliptic_curves;
mod hostile;
mod large_messages;
mod memory;
mod secured;
mod support;
mod turns;
