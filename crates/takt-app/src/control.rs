//! Control loops: one real-time thread receives, calls a function of the application and publishes in each cycle.
//!
//! Values travel in cells, which a [`Provider`](crate::Provider) may serve at the same time. `examples/closed_loop.rs` is a
//! controller with one cell in and one cell out.

pub use takt_control::{
    ControlApplication, ControlCycle, ControlError, ControlLoop, ControlOptions, ControlReport,
    Deadline, KernelQueue, LoopEnding, LoopPhases, Preparation, Reaction, RealTimeOptions,
    ReceivedMessage, Sending, SentMessage, Trace, TracePoint, TraceRecord,
};
#[cfg(feature = "toml")]
pub use takt_pubsub::configuration::from_toml;
