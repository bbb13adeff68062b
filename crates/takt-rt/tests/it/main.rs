//! Processes and memory of the operating system.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(not(miri))]
mod child;
#[cfg(all(target_env = "gnu", not(miri)))]
mod heap;
