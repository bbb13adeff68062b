//! A discrete-event simulator of a scenario: Linux's queueing disciplines handle PubSub messages frame by frame.
//!
//! Its only input is a scenario of `takt-scenario`, and it computes no bound. `docs/simulation.md` describes the limits of the
//! model.
//!
//! * [`Simulation`]: events in whole picoseconds, in an order that depends on the seed alone.
//! * [`discipline`]: FQ_CoDel, MQPRIO, CBS, ETF and TAPRIO as state machines.
//! * [`RunOptions`]: seed, cycles, the model of shapers, and the behaviour of loopbacks.
//! * The applications are those of "Real-Time Performance of OPC UA" (II-A, Fig. 3), with their threads at 0.0c, 0.3c and 0.6c.
//!
//! # Example
//!
//! A control loop and a camera share the links of a bridge. Each simulated delay of the control loop's messages stays below the
//! bound that `takt-calculus` proves.
//!
//! ```
//! use takt_calculus::{Extended, Rational, scenario_bounds};
//! use takt_scenario::{Analysis, BoundsModel, Scenario};
//! use takt_sim::{Model, RunOptions, Simulation};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scenario = Scenario::parse(
//!     r#"
//!     version = 1
//!     topology = { kind = "bridged", rate = "100 Mbit/s" }
//!     discipline = "priority"
//!     [disciplines.priority]
//!     scheduler = "mqprio"
//!     classes = [{ name = "control", priorities = [3] }, { name = "best effort" }]
//!     [[applications]]
//!     name = "control"
//!     publisher = "host1"
//!     subscriber = "host2"
//!     cycle = "1 ms"
//!     payload = "100 B"
//!     pcp = 3
//!     [[cross_traffic]]
//!     name = "camera"
//!     from = "host1"
//!     to = "host2"
//!     payload = "1500 B"
//!     rate = "50 Mbit/s"
//!     pattern = "poisson"
//!     "#,
//!     "cell.toml",
//! )?;
//!
//! // The bounds assume the model of the disciplines in IEEE 802.1Q.
//! let options = RunOptions { model: Model::Ieee, ..RunOptions::new(&scenario) };
//! let results = Simulation::new(&scenario, options).run(&mut ());
//! let control = &results.flows[0];
//! assert_eq!((control.sent, control.received), (10_000, 10_000));
//! let longest = control.one_way.delay.extremes.most().ok_or("no message arrived")?;
//!
//! let bounds = scenario_bounds(&scenario, BoundsModel::Sound, &[Analysis::TotalFlow])?;
//! let seconds = Rational::from_parts(longest.as_picoseconds().into(), 1_000_000_000_000u64.into());
//! assert!(Extended::Finite(seconds) <= bounds.flows[0].delay);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod adversary;
mod application;
mod build;
mod calendar;
mod choice;
mod clock;
mod cross_traffic_times;
pub mod discipline;
mod driver;
mod drops;
mod frames;
mod genes;
mod latency;
mod line_rate;
mod moves;
mod notes;
mod observer;
mod options;
mod port;
mod random;
mod simulation;
mod statistics;
mod subscriber_thread;
mod time;
mod trace;
mod wake_up_latencies;

pub use adversary::{Found, KeptPhases, Worst, search};
pub use build::forwarding_seed;
pub use calendar::Calendar;
pub use choice::Choice;
pub use clock::NodeClock;
pub use cross_traffic_times::CrossTrafficTimes;
pub use drops::DropRates;
pub use line_rate::LineRate;
pub use observer::{Message, MessageOutcome, Observer, Passage};
pub use options::{Adversary, Loopback, Model, RunOptions};
pub use random::Random;
pub use simulation::{Results, Simulation};
pub use statistics::{
    ApplicationStatistics, Counters, Delays, Extremes, FlowStatistics, Lost, Summary,
};
pub use time::Time;
pub use wake_up_latencies::{ApplicationEnd, CyclicThread, WakeUpLatencies};
