//! Many servers on one host, as in section V of the paper `opcua-vs-ros-dds-mqtt`: streams of messages go through servers that pass
//! each message on to the next one. The last server of a stream sends it to the process that has sent it first.
//!
//! A node is a process: a server, and a client of the next server. It speaks a line protocol (`docs/add-a-peer.md`). Takt's own nodes
//! are in [`node`]; the table of peers names the programs of the others.

mod chain;
mod end;
mod goals;
mod incoming;
mod link;
mod node;
mod options;
mod pubsub;
mod report;
mod row;
mod run;
mod setting;

pub use node::node;
pub use options::{Discovery, NodesOptions};
pub use row::NodesRow;
pub use run::run;
pub use setting::{NodeRole, NodeSetting, NodeTransport};
