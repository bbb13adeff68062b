//! Control loops over OPC UA PubSub: one real-time thread that receives, calls the application and publishes, each at its phase
//! of a cycle on CLOCK_TAI.
//!
//! The model is the loop of the papers (*Real-Time Performance of OPC UA*, Fig. 3): in a cycle of length `c`, the subscriber
//! receives from phase 0, the user's function runs at 0.3 `c`, the publisher makes the message at 0.6 `c`, and the message
//! leaves at the beginning of the next cycle plus an offset `o`. The time at which it leaves is kept by the kernel (SO_TXTIME
//! with ETF) or by the thread itself ([`Sending`]).
//!
//! * A [`ControlLoop`] runs one connection of a configuration of `takt-pubsub`: its WriterGroup and its DataSetReaders. Values
//!   travel in cells.
//! * After the start, a cycle allocates nothing and takes no lock, if the messages have a fixed layout.
//! * [`Trace`] keeps trace points in memory during the run and writes them to a file afterwards ([`trace_file`]).
//! * [`Deadline`] is the reaction to cycles without a message.
//!
//! This crate knows no scenario and no queueing discipline. `takt_app::control` exports it to applications.

#![forbid(unsafe_code)]

mod added_latency;
mod application;
mod control_loop;
mod deadline;
mod error;
mod inputs;
mod late_limit;
mod options;
mod report;
mod running;
mod schedule;
mod trace;
pub mod trace_file;

pub use added_latency::{AddedLatency, CyclePart};
pub use application::{ControlApplication, ControlCycle, ReceivedMessage, SentMessage};
pub use control_loop::ControlLoop;
pub use deadline::{Deadline, Reaction};
pub use error::ControlError;
pub use options::ControlOptions;
pub use report::{ControlReport, LoopEnding};
pub use schedule::{LoopPhases, Sending};
pub use takt_link::KernelQueue;
pub use takt_rt::real_time::{Preparation, RealTimeOptions};
pub use trace::{Trace, TracePoint, TraceRecord};
