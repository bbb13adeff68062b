//! Experiments with scenarios: the applications of the papers, and a lab that runs a scenario on Linux's own network.
//!
//! * [`ScenarioLoop`] makes the PubSub configuration and the schedule of one application at one of its ends.
//! * [`ScenarioApplication`] is the user's part: it counts or sends back, checks the consistency of the counters, and notes trace
//!   points.
//! * [`RoundTrips`] has the application round trip (`docs/measurements.md`).
//! * [`network`]: from a scenario to namespaces, devices and bridges, without a change of the system.
//! * [`executor`]: builds this network in the running kernel, and runs a case on it.
//! * [`PreparedRun`] writes the directory of a run, and [`execute`] runs it. Both are the same for each [`Backend`]; these differ in
//!   the kernel and in the device that joins two nodes ([`executor::LinkDevice`]).
//! * [`collect`]: the same directory from files of runs made by hand. [`TraceNotes`] is the description of their traces,
//!   [`RunId`] tells runs apart, [`host`] has facts about hosts.
//! * [`UnfinishedDirectory`] is removed unless it becomes complete.
//! * [`bundle`]: a run as one archive without names of users and hosts.
//! * [`uml`]: the lab's own kernel, and machines with it.
//! * [`run_directory`], [`CaseRecord`]: the files that a run leaves. [`RunFolder`] is for runs that leave none.
//!
//! This crate runs loops; `takt-control` has the real-time thread. `takt-tsn` configures ports.

#![deny(unsafe_code)]

mod application;
mod backend;
pub mod bundle;
mod case_record;
mod clock_agreement;
pub mod collect;
mod digest;
mod error;
mod execution;
pub mod executor;
pub mod host;
mod link_facts;
#[allow(unsafe_code, reason = "the call is unsafe for the sake of other flags")]
mod namespace;
pub mod network;
mod payload;
mod preparation;
mod ptp_clock;
mod round_trips;
pub mod run_directory;
mod run_folder;
mod run_id;
mod scenario_loop;
mod summary;
mod torn_data;
mod trace_name;
mod trace_notes;
pub mod uml;
mod unfinished_directory;

pub use application::ScenarioApplication;
pub use backend::Backend;
pub use case_record::{
    CASE_RECORD, CaptureRecord, CaseRecord, EndRecord, StampClock, TrafficRecord,
};
pub use clock_agreement::ClockAgreement;
pub use error::LabError;
pub use execution::{RunObserver, execute};
pub use link_facts::link_faults;
pub use payload::CounterPayload;
pub use preparation::{PreparedRun, RunRequest};
pub use ptp_clock::ptp_clock_offset;
pub use round_trips::RoundTrips;
pub use run_folder::RunFolder;
pub use run_id::RunId;
pub use scenario_loop::{LoopAddresses, LoopEnd, LoopError, ScenarioLoop};
pub use summary::{ApplicationSummary, RoundTripQuantiles, summarize};
pub use torn_data::TornData;
pub use trace_notes::{NoTraceNotes, TraceNotes};
pub use unfinished_directory::UnfinishedDirectory;
