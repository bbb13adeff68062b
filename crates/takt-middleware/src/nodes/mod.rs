//! Many servers on one host, as in section V of the paper `opcua-vs-ros-dds-mqtt`: streams of messages go through servers that pass
//! each message on to the next one. The last server of a stream calls the program that has sent it.
//!
//! Each server is a process with a Provider of its own and a client of the next server. No discovery runs: a server gets the endpoint
//! of the next one as an argument.

mod hop;
mod options;
mod report;
mod row;
mod run;
mod stream;

pub use hop::{HopSetting, hop};
pub use options::{NodesOptions, NodesTransport};
pub use row::NodesRow;
pub use run::run;
