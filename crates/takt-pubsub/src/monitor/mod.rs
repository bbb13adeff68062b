//! Watch of flows: the share of its proven times that each flow has used, counted while messages are sent and received.
//!
//! A flow is what a WriterGroup sends or a DataSetReader receives. Its times are proven elsewhere, and are plain data here
//! ([`FlowDescription`]): this module computes no bound. It has no clock, no thread and no link.
//!
//! * [`WatchedFlow`] has the numbers, as atomics: one thread counts, any thread reads them.
//! * [`SendingWatch`] and [`ReceivingWatch`] belong to the thread that sends or receives. They get times, allocate nothing and take
//!   no lock.
//! * [`WatchingObserver`] passes the DataSetMessages of a [`Subscriber`](crate::subscriber::Subscriber) to its watches.
//! * [`FlowLog`] says which flows are near their bound or above it: each cause once, and again after longer and longer times.
//!
//! [`RuntimeOptions::watched`](crate::runtime::RuntimeOptions::watched) connects all of them to a running configuration.

mod log;
mod observer;
mod watch;
mod watched_flow;
mod watched_time;

pub use log::{FlowCause, FlowLog, FlowReport};
pub use observer::{ReaderWatches, WatchingObserver};
pub use watch::{ArrivedMessage, ReceivingWatch, SendingWatch};
pub use watched_flow::{
    CommonClock, FlowDescription, FlowDirection, FlowFigures, WatchedFlow, WatchedFlows,
};
pub use watched_time::{TimeFigures, WatchedQuantity};
