//! Connects a PubSub configuration to a scenario: each WriterGroup and each DataSetReader gets the flow of the scenario whose messages
//! it sends or receives, with the times that `takt-calculus` proves for it.
//!
//! [`watched_flows`] refuses a configuration with messages that the scenario does not have: longer ones, of another cycle, VLAN or
//! priority, or of no application at all. It also refuses times whose proof has a gap, unless the caller wants them
//! ([`WatchOptions::allow_unproven`]). Its result goes into [`RuntimeOptions::watched`](takt_pubsub::runtime::RuntimeOptions::watched);
//! `takt_pubsub::monitor` counts.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//!
//! use takt_pubsub::configuration::from_toml;
//! use takt_pubsub::monitor::FlowDirection;
//! use takt_scenario::Scenario;
//! use takt_watchdog::{WatchError, WatchOptions, watched_flows};
//!
//! const SCENARIO: &str = r#"
//! version = 1
//! nodes = [
//!     { name = "press", wake_up_latency = "100 us" },
//!     { name = "robot", wake_up_latency = "100 us" },
//! ]
//! links = [{ ends = ["press", "robot"], rate = "1 Gbit/s" }]
//!
//! [[applications]]
//! name = "Spindle"
//! publisher = "press"
//! subscriber = "robot"
//! cycle = "10 ms"
//! payload = "48 B"
//! vlan = 1
//! pcp = 3
//! "#;
//! const PUBLISHER: &str = r#"
//! [[published_data_sets]]
//! name = "Data"
//! fields = [{ name = "Speed", data_type = "Double", published_variable = "ns=1;s=Speed" }]
//!
//! [[connections]]
//! name = "Out"
//! publisher_id = 5
//! address = "opc.eth://01-00-5E-00-00-01:1.3"
//!
//! [[connections.writer_groups]]
//! name = "Spindle"
//! writer_group_id = 1
//! publishing_interval = "10ms"
//! header_layout = "UADP-Periodic-Fixed"
//!
//! [[connections.writer_groups.data_set_writers]]
//! data_set_writer_id = 1
//! data_set_name = "Data"
//! "#;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let configuration = from_toml(PUBLISHER)?.configuration;
//! let scenario = Scenario::parse(SCENARIO, "plant.toml")?;
//! let flows = watched_flows(&configuration, &scenario, &WatchOptions::default())?;
//! let flow = flows.of(FlowDirection::Sending, "Out/Spindle").unwrap();
//! assert_eq!(flow.description().name, "Spindle");
//! assert_eq!(flow.description().sending, Some(Duration::from_micros(100)));
//!
//! // The scenario has a message every 4 ms, and the Publisher sends one every 10 ms.
//! let scenario = Scenario::parse(&SCENARIO.replace("10 ms", "4 ms"), "plant.toml")?;
//! let error = watched_flows(&configuration, &scenario, &WatchOptions::default()).unwrap_err();
//! assert!(matches!(error, WatchError::Cycle { .. }), "{error}");
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod components;
mod error;
mod frames;
mod matching;
mod options;
mod proven;

use takt_pubsub::monitor::{FlowDescription, FlowDirection, WatchedFlows};
use takt_scenario::{FlowSource, Scenario};
use takt_ua::structures::PubSubConfiguration2DataType;

pub use error::WatchError;
pub use options::WatchOptions;

use components::Component;
use matching::MatchedFlow;
use proven::ScenarioTimes;

/// Returns the flows of all WriterGroups and DataSetReaders of a configuration that are enabled, with their proven times.
///
/// A component belongs to the flow that [`WatchOptions::names`] says, else to the flow with its name, else to the flow with its
/// PublisherId, WriterGroupId and Ethernet group where Takt sends the messages of the scenario ([`FlowSource::publisher_id`]). The name of a flow is that
/// of its application. A WriterGroup may have it as its own name, as `CONNECTION/GROUP`, or as the name of its only
/// DataSetWriter; a DataSetReader as its own name, as `CONNECTION/READER`, or as that of its ReaderGroup.
/// The name may also be `NODE/NAME`, with the node that sends, if no other node has such a flow; for a sender `NODE/GROUP to NODE`.
///
/// # Errors
/// [`WatchError`]: the first message that the scenario does not have, or whose times are not proven.
pub fn watched_flows(
    configuration: &PubSubConfiguration2DataType,
    scenario: &Scenario,
    options: &WatchOptions,
) -> Result<WatchedFlows, WatchError> {
    let components = components::of(configuration)?;
    components::check_names(&components)?;
    matching::check_names(&options.names, &components, scenario)?;
    let mut senders: Vec<(Vec<FlowSource>, &Component)> = Vec::new();
    let mut matched = Vec::with_capacity(components.len());
    for component in &components {
        let flow = matching::flow_of(component, scenario, &options.names)?;
        if component.direction == FlowDirection::Sending {
            if let Some((_, other)) = senders.iter().find(|(known, _)| *known == flow.ways) {
                return Err(WatchError::TwoSenders {
                    flow: flow.name,
                    first: other.name.clone(),
                    second: component.name.clone(),
                });
            }
            senders.push((flow.ways.clone(), component));
        }
        let longest = frames::check(component, scenario, &flow)?;
        matched.push((component, flow, longest));
    }
    // Last: large scenarios take seconds.
    let times = ScenarioTimes::of(scenario, options)?;
    let describe = |(component, flow, longest): (&Component, MatchedFlow, usize)| {
        times.describe(component, &flow, longest, options)
    };
    let descriptions: Vec<FlowDescription> = matched
        .into_iter()
        .map(describe)
        .collect::<Result<_, _>>()?;
    Ok(WatchedFlows::new(descriptions))
}
