//! The demonstration: two Providers with live data, and a Consumer that finds and uses them.
//!
//! [`host`] and [`machine`] are Providers in the form of an application. [`consumer`] is the output of `takt demo`. Applications
//! need nothing of this crate.

#![forbid(unsafe_code)]

pub mod consumer;
mod dashboard;
mod events;
mod gauge;
pub mod host;
mod keys;
pub mod latency;
pub mod machine;
mod requests;
mod tree;
