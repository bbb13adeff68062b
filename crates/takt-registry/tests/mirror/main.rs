//! Mirrors of a server with types of its own.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "these are tests"
)]

mod events;
mod limited;
mod nodes;
mod refused;
mod support;
