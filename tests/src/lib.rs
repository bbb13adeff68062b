//! Helpers of the end-to-end tests, which start the real binaries: `takt` and the foreign peers of `peers/`.
//!
//! It is only for tests: every failure here is a panic with the expectation, the time waited for it, and the output
//! of the processes involved.

#![forbid(unsafe_code)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

pub mod attacked;
pub mod authority;
pub mod authorization;
pub mod binary;
pub mod capture;
pub mod checked_values;
pub mod checker;
pub mod clock_steps;
pub mod interop;
pub mod memory_group;
pub mod network;
pub mod peer;
pub mod privileged;
pub mod process;
pub mod pubsub;
pub mod random;
pub mod sandbox;
pub mod shifted_clock;
pub mod tutorial;
pub mod withstanding;

pub use peer::{Peer, PeerClient, PeerPubSub, PeerServer};
pub use process::{Finished, Process};
pub use sandbox::{Provider, Registry, Sandbox};
