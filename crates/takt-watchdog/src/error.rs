//! Reasons why a configuration cannot be watched with a scenario.

use takt_calculus::ScenarioBoundsError;
use takt_pubsub::ConfigurationError;

/// Greatest number of names in a message.
const MOST_NAMES: usize = 8;

/// Reason why a configuration cannot be watched with a scenario. A component is `CONNECTION/GROUP` or `CONNECTION/READER`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// A component belongs to no flow of the scenario.
    #[error(
        "{component}: the scenario has no flow with this name, nor with {identity}; it has {}",
        some(known)
    )]
    NoFlow {
        /// The component.
        component: String,
        /// PublisherId and WriterGroupId of the component, in words.
        identity: String,
        /// Names of the flows.
        known: Vec<String>,
    },
    /// A given name is that of no component or of no flow.
    #[error("there is no {what} `{name}`; there is {}", some(known))]
    UnknownName {
        /// `component` or `flow`.
        what: &'static str,
        /// The given name.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// Two components have one name, which then is that of none.
    #[error("{component}: two have this name")]
    SameName {
        /// The component.
        component: String,
    },
    /// Two WriterGroups belong to one flow.
    #[error("flow {flow} has one Publisher in the scenario, and here {first} and {second}")]
    TwoSenders {
        /// The flow.
        flow: String,
        /// First component.
        first: String,
        /// Second component.
        second: String,
    },
    /// The messages of a component are not those of a link on Ethernet.
    #[error("{component}: messages to {address} are no frames of a scenario: {reason}")]
    Transport {
        /// The component.
        component: String,
        /// Address of the component.
        address: String,
        /// Reason in words.
        reason: &'static str,
    },
    /// The messages of a component are JSON.
    #[error(
        "{component}: the length of messages in JSON changes with their values, and flow {flow} has one length"
    )]
    Json {
        /// The component.
        component: String,
        /// The flow.
        flow: String,
    },
    /// A WriterGroup does not send exactly one message in each cycle.
    #[error(
        "{component}: {found} messages in each publishing interval, and flow {flow} has one in each cycle"
    )]
    Count {
        /// The component.
        component: String,
        /// The flow.
        flow: String,
        /// Number of NetworkMessages in each publishing interval.
        found: usize,
    },
    /// The messages of a component are longer.
    #[error(
        "{component}: messages have {found} bytes of payload in their frames, and those of flow {flow} at most {expected}"
    )]
    Size {
        /// The component.
        component: String,
        /// The flow.
        flow: String,
        /// Bytes of payload of the scenario's frames.
        expected: u32,
        /// Bytes of payload of the frames of the component: message and headers of IP and UDP.
        found: usize,
    },
    /// The frames of a flow are too short for the headers of IP and UDP.
    #[error(
        "{component}: the headers of IP and UDP have {headers} bytes, and the payload of flow {flow} has {expected}"
    )]
    NoRoom {
        /// The component.
        component: String,
        /// The flow.
        flow: String,
        /// Bytes of payload of the scenario's frames.
        expected: u32,
        /// Bytes of the headers.
        headers: usize,
    },
    /// A component has another cycle.
    #[error(
        "{component}: the publishing interval is {found_us} µs, and the cycle of flow {flow} is {expected_us} µs"
    )]
    Cycle {
        /// The component.
        component: String,
        /// The flow.
        flow: String,
        /// Cycle of the scenario in µs.
        expected_us: f64,
        /// Publishing interval of the component in µs.
        found_us: f64,
    },
    /// Frames of a component have another VLAN tag.
    #[error("{component}: the address has {found}, and flow {flow} has VLAN {vlan} with PCP {pcp}")]
    Tag {
        /// The component.
        component: String,
        /// The flow.
        flow: String,
        /// VLAN of the scenario.
        vlan: u16,
        /// Priority Code Point of the scenario.
        pcp: u8,
        /// VLAN and PCP of the address in words.
        found: String,
    },
    /// A part of the configuration cannot be used.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// The scenario has no bounds.
    #[error("the times of the scenario cannot be proven: {0}")]
    Bounds(#[from] ScenarioBoundsError),
    /// The times of a flow are not proven for this set-up.
    #[error("{component}: the times of flow {flow} are not proven: {}", reasons.join("; "))]
    Unproven {
        /// The component.
        component: String,
        /// The flow.
        flow: String,
        /// Reasons in words.
        reasons: Vec<String>,
    },
}

/// Writes names, at most some of them: a plant has hundreds.
fn some(names: &[String]) -> String {
    let first = names.iter().take(MOST_NAMES);
    let text = first.map(String::as_str).collect::<Vec<_>>().join(", ");
    match (names.len(), names.len().saturating_sub(MOST_NAMES)) {
        (0, _) => "none".to_owned(),
        (_, 0) => text,
        (_, more) => format!("{text} and {more} more"),
    }
}
