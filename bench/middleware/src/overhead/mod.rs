//! Overhead of middleware: the bytes that each message takes as payload of TCP and UDP, as in Table II of the paper
//! `opcua-vs-ros-dds-mqtt`. They are counted in a capture of a real exchange, and each byte belongs to one message with one purpose.
//!
//! Broker, server and client run in a network namespace of their own, in which one more process captures. That needs no root where
//! users may make namespaces. Shared memory is read in the memory of the client, after each request.

mod account;
mod capture;
mod course;
mod entry;
mod exchange;
mod markdown;
mod message;
mod messages;
mod options;
mod packet;
mod paper;
mod protocol;
mod recording;
mod report;
mod row;
mod run;
mod shared_memory;
mod stream;

pub use capture::capture;
pub use options::OverheadOptions;
pub use row::{OverheadRow, OverheadSize};
pub use run::run;
