//! A discrete-event simulator of a scenario: Linux's queueing disciplines handle PubSub messages frame by frame.
//!
//! Its only input is a scenario of `takt-scenario`, and it computes no bound. `docs/simulation.md` describes the limits of the
//! model.
//!
//! * [`Simulation`]: events in whole picoseconds, in an order that depends on the seed alone.
//! * [`discipline`]: FQ_CoDel, MQPRIO, CBS, ETF and TAPRIO as state machines.
//! * [`Options`]: seed, cycles, the model of shapers, and the behaviour of loopbacks.
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
