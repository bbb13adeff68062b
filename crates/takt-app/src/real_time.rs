//! Real-time settings: policies and priorities of threads, their cores, cyclic threads, clocks and locked memory.
//!
//! PubSub and control loops take them as options ([`RealTime`](crate::pubsub::RealTime),
//! [`RealTimeOptions`](crate::control::RealTimeOptions)). Threads of an application use the modules.

pub use takt_rt::priority::Policy;
pub use takt_rt::{affinity, clock, cyclic, memory, priority};
