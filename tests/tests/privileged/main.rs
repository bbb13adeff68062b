//! Tests that need root: other users, network namespaces, and limits of memory. The output says which of them had to be left out.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![allow(unreachable_pub, reason = "a binary has no public interface")]

#[cfg(feature = "patience")]
mod announcement_attack;
mod control_loops;
mod discovery;
mod groups;
mod links;
#[cfg(feature = "patience")]
mod memory_group;
#[cfg(feature = "patience")]
mod pubsub_keys;
mod secured_network;
mod wakeup;

use std::process::ExitCode;

fn main() -> ExitCode {
    takt_tests::privileged::main(&[
        #[cfg(feature = "patience")]
        ("announcement_attack", announcement_attack::tests()),
        ("control_loops", control_loops::tests()),
        ("discovery", discovery::tests()),
        ("groups", groups::tests()),
        ("links", links::tests()),
        #[cfg(feature = "patience")]
        ("memory_group", memory_group::tests()),
        #[cfg(feature = "patience")]
        ("pubsub_keys", pubsub_keys::tests()),
        ("secured_network", secured_network::tests()),
        ("wakeup", wakeup::tests()),
    ])
}
