//! PubSub (OPC 10000-14): publishers and subscribers of a configuration, which share their cells with a
//! [`Provider`](crate::Provider).
//!
//! [`PubSub`] runs a configuration that [`from_toml`] reads. `examples/mixer_publisher.rs` publishes a cell that a Provider
//! serves at the same time.

#[cfg(feature = "toml")]
pub use takt_pubsub::configuration::from_toml;
pub use takt_pubsub::runtime::{
    ActionClient, ComponentState, LinkOptions, PubSub, RealTime, RunningResponders, RuntimeOptions,
    StartError, Statistics,
};
pub use takt_pubsub::*;
