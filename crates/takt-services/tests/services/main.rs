//! The services as a transport uses them: encoded requests, encoded responses, no transport.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests"
)]

mod add_nodes;
mod attributes;
mod browse;
mod browse_next;
mod call;
mod common;
mod discovery;
mod dispatch;
mod generic_attributes;
mod instances;
mod issued_tokens;
mod memory;
mod mutations;
mod node_management;
mod nodes;
mod owned_messages;
mod passwords;
mod permissions;
mod published;
mod read;
mod references;
mod remote;
mod session_diagnostics;
mod sessions;
mod settling;
mod slices;
mod slices_of_changes;
mod slices_of_items;
mod slices_of_operations;
mod slices_of_subscriptions;
mod subscriptions;
mod test_users;
mod translate;
mod write;
mod write_types;
