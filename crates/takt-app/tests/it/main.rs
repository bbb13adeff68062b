//! Providers and Consumers as a program uses them.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod alarms;
mod alarms_over_restart;
mod allocations;
#[cfg(feature = "async")]
mod asynchronous;
mod audited_registration;
mod browsing;
mod capacity;
mod causes;
mod closed_loop;
mod current_value;
mod current_value_allocations;
mod deadline;
mod declared;
mod durable_subscriptions;
mod event_history;
mod find_by_type;
mod flow_variables;
mod history;
mod history_disk;
mod in_place;
mod instances;
mod memory;
mod operation_limits;
mod provider_services;
mod published_cell;
mod published_value;
mod publishing_interval;
mod pushed_keys;
mod registry_state;
mod resumed;
mod slow_values;
mod support;
mod workers;
