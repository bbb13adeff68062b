//! Comparison of middleware: round trips of OPC UA, MQTT, DDS, ROS and others, measured in one run.
//!
//! The experiments are those of the paper `opcua-vs-ros-dds-mqtt`, section V: echo and ACK with payloads of several sizes. A peer is a
//! program that speaks a line protocol (`docs/add-a-peer.md`); the table of peers names its command line. [`own`] has Takt's peers and
//! the floors. Each peer runs as real processes. This crate knows no foreign stack, and draws no conclusion beyond its intervals.

#![forbid(unsafe_code)]

mod baseline;
mod calls;
mod charts;
mod condition;
pub mod environment;
mod error;
mod goals;
mod install;
mod leftovers;
mod load;
mod measure;
pub mod nodes;
mod options;
mod others;
pub mod overhead;
pub mod own;
mod packages;
mod peer_table;
mod place;
mod progress;
mod protocol;
mod random;
mod ratio;
mod report;
mod row;
mod run;
mod samples;
mod scheduler;
mod session;
mod sockets;
mod steps;
mod table;
mod tables;
mod traffic;
mod transfer;
mod usage;

pub use condition::{Condition, ConditionOptions};
pub use error::MiddlewareError;
pub use install::{PeersCommand, PeersOptions, peers};
pub use options::MiddlewareOptions;
pub use row::MiddlewareRow;
pub use run::run;
pub use scheduler::PeerScheduler;
pub use table::{PeerBroker, PeerEntry, PeerGroup, PeerNetwork, PeerTable};
pub use traffic::{TrafficPlace, TrafficSide, traffic};
pub use usage::PeerUsage;
