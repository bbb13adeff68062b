//! A discrete-event simulator of a scenario: what the queueing disciplines of Linux do to PubSub messages, frame by frame.
//!
//! It takes all that it knows from `takt-scenario`, and computes no bound. `docs/simulation.md` says what is modelled and what is not.
//!
//! * [`Simulation`]: events in whole picoseconds, in an order that the seed alone decides.
//! * [`discipline`]: FQ_CoDel, MQPRIO, CBS, ETF and TAPRIO as state machines.
//! * [`Options`]: seed, cycles, whose shaper, what loopbacks do.
//! * The applications are those of "Real-Time Performance of OPC UA" (II-A, Fig. 3), with their threads at 0.0c, 0.3c and 0.6c.

#![forbid(unsafe_code)]

mod adversary;
mod application;
mod build;
mod calendar;
mod choice;
mod clock;
pub mod discipline;
mod drops;
mod frames;
mod latency;
mod line_rate;
mod notes;
mod observer;
mod options;
mod port;
mod random;
mod simulation;
mod statistics;
mod time;

pub use adversary::{Found, Worst, search};
pub use calendar::Calendar;
pub use choice::Choice;
pub use clock::NodeClock;
pub use drops::DropRates;
pub use line_rate::LineRate;
pub use observer::{Message, MessageOutcome, Observer, Passage};
pub use options::{Adversary, Loopback, Model, Options};
pub use random::Random;
pub use simulation::{Results, Simulation};
pub use statistics::{
    ApplicationStatistics, Counters, Delays, Extremes, FlowStatistics, Lost, Summary,
};
pub use time::Time;
