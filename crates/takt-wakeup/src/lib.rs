//! Wake-up latencies of cyclic threads, and the cause of each late wake-up.
//!
//! * [`Measurement`]: threads that sleep until absolute times and note how late they wake up, one per core.
//! * [`prepare`]: the real-time settings of a cyclic thread, and [`late_queue`]: late wake-ups on their way from a real-time thread to
//!   the recorder. Both are those of `takt-rt`, so a program that is only watched does not link this crate.
//! * [`Recorder`]: a flight recorder of the kernel's events, in an instance of tracefs, which is read after a late wake-up only.
//! * [`trace`]: the kernel's pages and events; [`EventHistory`] attributes the time of a lateness to causes. Both are sans-io.
//!
//! The latency is that of [`takt_rt::cyclic`]: the time from the planned start of a cycle until the thread reads the clock again.
//! A cause is a fact of the trace, never a guess: the rest is [`Cause::Unknown`]. This crate knows no scenario and no command.

#![forbid(unsafe_code)]

mod attribution;
mod measurement;
mod recorder;
mod system_call_names;
pub mod trace;

pub use attribution::{Cause, CauseShare, EventHistory, Explanation, WatchedCalls, WhileLate};
pub use measurement::{
    CycleWork, Measurement, MeasurementError, ThreadPlan, ThreadProgress, ThreadResult,
};
pub use recorder::{
    LateReport, Recorder, RecorderError, RecordingFailure, StealTime, TaiOffsets, remove_dead,
};
pub use takt_rt::late::{
    LateInterval, LateKind, LateReceiver, LateWatch, WatchStart, late_queue, thread_id,
};
pub use takt_rt::real_time::{Preparation, Prepared, RealTimeOptions, prepare};
