//! The real binaries from end to end: the command line, the services over each transport, the registry, PubSub.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod command_line;
mod conformance;
mod decode;
mod flow_watch;
mod idle;
mod pubsub;
mod pubsub_documents;
mod pubsub_reports;
mod pubsub_structures;
mod registry;
mod reverse_connect;
