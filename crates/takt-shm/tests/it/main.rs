//! Clients and servers over shared memory, in one process and in several.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod allocations;
mod common;
mod fairness;
mod foreign;
mod full;
mod group;
mod hostile;
mod in_process;
mod memory;
mod two_processes;
