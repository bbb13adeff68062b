//! Quantities of measured runs (`docs/analysis.md`; `docs/measurements.md` has the definitions).
//!
//! * [`RunAnalysis`]: round trips, parts of the way, jitter, inter-frame spacing, losses and counters, of trace files
//!   and captures.
//! * [`ExactStatistics`]: minimum, mean, maximum and quantiles of very many samples, in limited memory.
//! * [`SampleObserver`] gets each delay of each message.
//! * [`ImpossibleDelays`]: delays that no message can have, such as negative ones.
//! * [`CounterStatistics`]: missed, repeated and reordered counters.
//!
//! Files are read as streams, twice: once for the trace points and counters that they have, and once for the
//! quantities. The crate knows no scenario, no backend and no picture.

#![forbid(unsafe_code)]

mod analysis;
mod capture;
mod counters;
mod directory;
mod doubts;
mod error;
mod interval;
mod late_wake_up;
mod observer;
mod page;
mod quantities;
mod sent_stamp;
mod source;
mod statistics;
mod survey;
mod window;

pub use analysis::AnalysisOptions;
pub use capture::publisher_of;
pub use counters::CounterStatistics;
pub use directory::files_of_run;
pub use doubts::ImpossibleDelays;
pub use error::AnalysisError;
pub use interval::TraceInterval;
pub use late_wake_up::{LATE_WAKE_UPS, LATE_WAKE_UPS_TOTAL, LateCause, LateWakeUp};
pub use observer::{DelaySample, SampleObserver};
pub use quantities::{IntervalQuantities, PointLoss, PointQuantities, RunAnalysis, RunFile};
pub use sent_stamp::SentStamp;
pub use source::{CapturePort, FileSurvey, RecordSpan, RunFileFormat, SenderSpan};
pub use statistics::ExactStatistics;
