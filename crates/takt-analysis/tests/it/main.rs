//! Analyses of whole runs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod runs;
