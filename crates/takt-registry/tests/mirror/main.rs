//! Mirrors of a server with types of its own.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "these are tests"
)]

mod conditions;
mod events;
mod foreign;
mod limited;
mod nodes;
mod refused;
mod restarts;
mod support;
mod types;
