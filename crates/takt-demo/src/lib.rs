//! The demonstration: two Providers on live data, and a Consumer that finds and uses them.
//!
//! [`host`] and [`machine`] are Providers as an application would write them; [`consumer`] is what `takt demo` shows.
//! Nothing here is needed by applications.

#![forbid(unsafe_code)]

pub mod consumer;
pub mod host;
pub mod latency;
pub mod machine;
pub mod processes;
pub mod screen;
mod tree;
