//! Foreign clients, servers, brokers and tools, beside the real binaries; `peers/README.md` lists them.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod async_opcua;
mod asyncua;
mod companion;
mod events;
mod gopcua;
mod history;
mod milo;
mod mirror;
mod mosquitto;
mod node_opcua;
mod nodesets;
mod open62541;
mod pubsub_asyncua;
mod pubsub_node_opcua;
mod pubsub_open62541;
mod push;
mod python_opcua;
mod registered_types;
mod security;
mod security_peers;
mod structures;
mod tshark;
mod unreadable;
