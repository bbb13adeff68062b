//! Tests of the program `takt-bench`, with few samples: each benchmark has the rows that it should have, its mistakes are explained, and
//! it leaves nothing behind.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod allocations;
mod attack;
mod attackers;
mod directory;
mod middleware;
mod middleware_load;
mod middleware_places;
mod overhead;
mod profile;
mod sessions;
mod shm;
mod support;
mod transport;
