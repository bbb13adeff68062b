//! PubSub configuration and schedule of a scenario's application at one of its ends.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use takt_cell::Cell;
use takt_control::{ControlError, ControlLoop, ControlOptions, LoopPhases, Sending};
use takt_link::{Address, AddressError, LaunchMode, MacAddress};
use takt_pubsub::configuration::{TomlError, from_toml};
use takt_pubsub::publisher::{FieldSource, PublishedField};
use takt_pubsub::subscriber::{FieldTarget, SubscribedField};
use takt_rt::clock::tai_offset_seconds;
use takt_scenario::{Application, ApplicationIndex, Scenario};
use takt_ua::structures::PubSubConfiguration2DataType;

use crate::network::publisher_ids;
use crate::payload::CounterPayload;
use crate::run_id::RunId;

/// End of an application that runs here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoopEnd {
    /// Publisher, which measures the round trip.
    Publisher,
    /// Loopback, which sends each message back.
    Loopback,
}

impl LoopEnd {
    /// Returns the name: `publisher` or `loopback`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Publisher => "publisher",
            Self::Loopback => "loopback",
        }
    }
}

/// Name of the end of a Subscriber, beside those of [`LoopEnd`].
pub(crate) const SUBSCRIBER: &str = "subscriber";

/// Addresses of an application's messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopAddresses {
    /// Address of messages to the loopback.
    pub there: String,
    /// Address of messages back to the Publisher.
    pub back: String,
}

impl LoopAddresses {
    /// Returns the addresses that an application has by default: its Ethernet groups, with its VLAN and priority.
    #[must_use]
    pub fn of(application: &Application) -> Self {
        let (vlan, pcp) = (application.vlan, application.pcp);
        let address = |group| format!("opc.eth://{}:{vlan}.{pcp}", MacAddress(group));
        Self {
            there: address(application.group),
            back: address(application.return_group),
        }
    }
}

/// Reason why a scenario's application cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoopError {
    /// The scenario has no such application.
    #[error("the scenario has no application {name}; it has {}", known.join(", "))]
    UnknownApplication {
        /// Requested name.
        name: String,
        /// Names of the applications.
        known: Vec<String>,
    },
    /// The scenario has several applications, and none was named.
    #[error("the scenario has {} applications: name one of {}", known.len(), known.join(", "))]
    SeveralApplications {
        /// Names of the applications.
        known: Vec<String>,
    },
    /// The application has a Subscriber that sends nothing back.
    #[error("application {name} has a Subscriber and no loopback")]
    NoLoopback {
        /// Name of the application.
        name: String,
    },
    /// An address is wrong.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The configuration cannot be made.
    #[error(transparent)]
    Configuration(#[from] TomlError),
    /// The loop cannot be made.
    #[error(transparent)]
    Control(#[from] ControlError),
}

/// One application of a scenario.
#[derive(Debug, Clone)]
pub struct ScenarioLoop {
    /// Name of the scenario.
    scenario: String,
    application: Application,
    /// Index of the application in the scenario.
    index: usize,
    /// Number of fields of a message.
    fields: usize,
    addresses: LoopAddresses,
    /// GroupVersion of the messages that this end sends.
    group_version: u32,
    /// True for a Subscriber, which takes messages when they come, not at the phase of a loopback.
    takes_at_once: bool,
}

/// Largest phase of a cycle: 1 ns before its end for cycles up to 2^52 ns.
const LAST_PHASE: f64 = 1.0 - f64::EPSILON;

impl ScenarioLoop {
    /// Returns an application of a scenario: the one with this name, or the only one.
    ///
    /// # Errors
    /// [`LoopError`]: there is none, or it has no loopback.
    pub fn of(scenario: &Scenario, name: Option<&str>) -> Result<Self, LoopError> {
        let applications = &scenario.applications;
        let known = || applications.iter().map(|it| it.name.clone()).collect();
        let index = match (name, applications.as_slice()) {
            (None, [_]) => 0,
            (None, _) => return Err(LoopError::SeveralApplications { known: known() }),
            (Some(name), all) => {
                let found = all.iter().position(|it| it.name == name);
                found.ok_or_else(|| LoopError::UnknownApplication {
                    name: name.to_owned(),
                    known: known(),
                })?
            }
        };
        let Some(found) = applications.get(index) else {
            return Err(LoopError::SeveralApplications { known: known() });
        };
        if found.receiver.loopback().is_none() {
            let name = found.name.clone();
            return Err(LoopError::NoLoopback { name });
        }
        Ok(Self::new(scenario, index, found))
    }

    /// Returns the application with this index, with a loopback or without one. `None` if there is none.
    ///
    /// Without a loopback, its Subscribers are ends as a loopback is, which send nothing back.
    #[must_use]
    pub fn at(scenario: &Scenario, index: ApplicationIndex) -> Option<Self> {
        let found = scenario.applications.get(index.0)?;
        Some(Self::new(scenario, index.0, found))
    }

    fn new(scenario: &Scenario, index: usize, application: &Application) -> Self {
        Self {
            scenario: scenario.name.clone(),
            fields: CounterPayload::fields_of(application.frame),
            addresses: LoopAddresses::of(application),
            group_version: 1,
            takes_at_once: false,
            index,
            application: application.clone(),
        }
    }

    /// Replaces the addresses.
    ///
    /// # Errors
    /// [`LoopError::Address`].
    pub fn with_addresses(self, addresses: LoopAddresses) -> Result<Self, LoopError> {
        for address in [&addresses.there, &addresses.back] {
            Address::parse(address)?;
        }
        Ok(Self { addresses, ..self })
    }

    /// Makes the loopback take messages in the whole cycle, as Subscribers do, and not in the phase of the scenario.
    #[must_use]
    pub fn taking_at_once(self) -> Self {
        Self {
            takes_at_once: true,
            ..self
        }
    }

    /// Gives the messages that this end sends the id of its run.
    #[must_use]
    pub fn with_run(self, run: RunId) -> Self {
        Self {
            group_version: run.0,
            ..self
        }
    }

    /// Returns the PublisherIds of Publisher and loopback.
    #[must_use]
    pub fn publisher_ids(&self) -> (u64, u64) {
        publisher_ids(self.index)
    }

    /// Returns the name of the scenario.
    #[must_use]
    pub fn scenario(&self) -> &str {
        &self.scenario
    }

    /// Returns the index of the application in the scenario.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// Returns the application.
    #[must_use]
    pub const fn application(&self) -> &Application {
        &self.application
    }

    /// Returns the addresses of its messages.
    #[must_use]
    pub const fn addresses(&self) -> &LoopAddresses {
        &self.addresses
    }

    /// Returns PublisherId, WriterGroupId and DataSetWriterId of the messages that an end receives, joined by `/`.
    #[must_use]
    pub fn received_from(&self, end: LoopEnd) -> String {
        let (publisher, loopback) = publisher_ids(self.index);
        let peer = match end {
            LoopEnd::Publisher => loopback,
            LoopEnd::Loopback => publisher,
        };
        format!("{peer}/1/1")
    }

    /// Returns the number of fields of a message.
    #[must_use]
    pub const fn fields(&self) -> usize {
        self.fields
    }

    /// Returns the description of a trace file of an end (`docs/control-loops.md`). `scenario` names the scenario for people.
    #[must_use]
    pub fn trace_description(&self, end: LoopEnd, scenario: &str) -> Vec<(&'static str, String)> {
        let role = end.name();
        let cycle = self.application.cycle.0 / 1000;
        vec![
            ("role", role.to_owned()),
            ("application", self.application.name.clone()),
            ("scenario", scenario.to_owned()),
            ("cycle_ns", cycle.to_string()),
            ("tai_offset_s", tai_offset_seconds().to_string()),
        ]
    }

    /// Returns the time of sending in the scenario.
    #[must_use]
    pub fn sending(&self) -> Sending {
        let offset = duration(self.application.offset);
        match (self.application.txtime, self.application.immediate) {
            (Some(_), _) => Sending::LaunchTime {
                offset,
                mode: LaunchMode::Strict,
            },
            (None, true) => Sending::Immediate,
            (None, false) => Sending::AtOffset(offset),
        }
    }

    /// Returns the phases of the scenario, or those of an end that takes messages in the whole cycle.
    #[must_use]
    pub fn phases(&self) -> LoopPhases {
        if self.takes_at_once {
            return LoopPhases {
                subscriber: 0.0,
                user: LAST_PHASE,
                publisher: LAST_PHASE,
            };
        }
        let phases = self.application.phases;
        let share = |share: takt_scenario::Share| share.0 as f64 / 1e9;
        LoopPhases {
            subscriber: share(phases.subscriber),
            user: share(phases.user),
            publisher: share(phases.publisher),
        }
    }

    /// Returns the PubSub configuration of an end.
    ///
    /// Headers have the length that the scenario counts: 32 bytes, as the example of open62541 sends them.
    ///
    /// # Errors
    /// [`LoopError::Configuration`].
    pub fn configuration(&self, end: LoopEnd) -> Result<PubSubConfiguration2DataType, LoopError> {
        let LoopAddresses { there, back } = &self.addresses;
        let (publisher, loopback) = publisher_ids(self.index);
        let (own, peer, to, at) = match end {
            LoopEnd::Publisher => (publisher, loopback, there, back),
            LoopEnd::Loopback => (loopback, publisher, back, there),
        };
        let version = self.group_version;
        let milliseconds = self.application.cycle.0 as f64 / 1e9;
        let (mut sources, mut targets) = (String::new(), String::new());
        for field in 0..self.fields {
            let name = name(field);
            // Writing to a String cannot fail.
            let _ = write!(
                sources,
                r#"{{ name = "{name}", data_type = "UInt64", published_variable = "ns=1;s={name}" }}, "#
            );
            let _ = write!(
                targets,
                r#"{{ name = "{name}", data_type = "UInt64", target_node_id = "ns=1;s={name}" }}, "#
            );
        }
        let text = format!(
            r#"
            [[published_data_sets]]
            name = "Counters"
            fields = [{sources}]

            [[connections]]
            name = "control"
            publisher_id = {own}
            address = "{at}"

            [[connections.writer_groups]]
            name = "control"
            writer_group_id = 1
            publishing_interval = {milliseconds}
            transport_settings = {{ "$type" = "DatagramWriterGroupTransport2DataType", Address = {{ "$type" = "NetworkAddressUrlDataType", Url = "{to}" }} }}
            uadp = {{ group_version = {version}, network_message_content_mask = ["PublisherId", "GroupHeader", "WriterGroupId", "GroupVersion", "NetworkMessageNumber", "SequenceNumber", "PayloadHeader"] }}

            [[connections.writer_groups.data_set_writers]]
            name = "counters"
            data_set_writer_id = 1
            data_set_name = "Counters"
            field_encoding = "Variant"
            uadp = {{ data_set_message_content_mask = ["SequenceNumber", "Timestamp"], network_message_number = 1 }}

            [[connections.reader_groups]]
            name = "control"

            [[connections.reader_groups.data_set_readers]]
            name = "counters"
            publisher_id = {peer}
            writer_group_id = 1
            data_set_writer_id = 1
            field_encoding = "Variant"
            fields = [{targets}]
            "#
        );
        Ok(from_toml(&text)?.configuration)
    }

    /// Returns the loop of an end, with the cells of received and of published counters. `options` are those of the host; the
    /// phases are those of the scenario.
    ///
    /// # Errors
    /// [`LoopError`].
    pub fn open(
        &self,
        end: LoopEnd,
        input: &CounterPayload,
        output: &CounterPayload,
        options: ControlOptions,
    ) -> Result<ControlLoop, LoopError> {
        let cell = |payload: &CounterPayload, wanted: &str| -> Option<Arc<Cell>> {
            let field = (0..self.fields).find(|field| name(*field) == wanted)?;
            payload.cells().get(field).cloned()
        };
        let mut source = |field: PublishedField<'_>| {
            cell(output, field.meta_data.name.as_str()).map(FieldSource::Cell)
        };
        let mut target = |field: SubscribedField<'_>| {
            cell(input, field.meta_data.name.as_str()).map(FieldTarget::Cell)
        };
        let options = ControlOptions {
            phases: self.phases(),
            start_tolerance: match self.takes_at_once {
                // The thread waits for messages until the next cycle begins.
                true => duration(self.application.cycle) / 2,
                false => options.start_tolerance,
            },
            ..options
        };
        let configuration = self.configuration(end)?;
        Ok(ControlLoop::new(
            &configuration,
            &mut source,
            &mut target,
            options,
        )?)
    }
}

/// Returns the name of a field.
fn name(field: usize) -> String {
    match field {
        0 => "Counter".to_owned(),
        _ => format!("Repeated{field}"),
    }
}

/// Converts a time of a scenario, which has picoseconds, to one of the system.
fn duration(time: takt_scenario::Duration) -> Duration {
    Duration::from_nanos(time.0 / 1000)
}
