//! Publishers and Subscribers of OPC 10000-14: PublishedDataSets, WriterGroups and DataSetWriters, ReaderGroups and
//! DataSetReaders, with their parameters, states and security.
//!
//! A configuration is a [`PubSubConfiguration2DataType`] of the standard; there is no second model. It comes from a file in TOML or
//! in the binary format of the standard ([`configuration`]), or is made by the application.
//!
//! * [`publisher`] and [`subscriber`] have no clock and no socket: they are called with the time and with messages, and return
//!   messages and events.
//! * [`runtime`], a feature that is on by default, runs a configuration: it has the threads, and the links of `takt-link`.
//!   [`check`] finds mistakes before.
//! * [`discovery`]: announcements of Publishers, and probes for them; also without clock and socket.
//! * [`action`]: Requestors and Responders of Actions; also without clock and socket.
//! * [`DataSetDirectory`]: the DataSets of many Publishers, for tools.
//! * [`monitor`] counts how much of the proven times of its flow each message has used.
//! * [`security`] protects messages, and keeps keys.
//!
//! # Example
//!
//! A Publisher sends the speed of a spindle from a [`Cell`], and a Subscriber writes it into another one. Here the message is passed
//! on by hand; [`runtime::PubSub::start`] does it over the network, with the same configuration, source and target.
//!
//! ```
//! use std::collections::HashMap;
//! use std::sync::Arc;
//!
//! use takt_cell::Cell;
//! use takt_pubsub::Now;
//! use takt_pubsub::configuration::from_toml;
//! use takt_pubsub::publisher::WriterGroup;
//! use takt_pubsub::subscriber::Subscriber;
//! use takt_ua::enumerations::PubSubState;
//! use takt_ua::{DateTime, NodeId, StatusCode, Variant};
//!
//! const PUBLISHER: &str = r#"
//!     [[published_data_sets]]
//!     name = "Spindle"
//!     fields = [{ name = "Speed", data_type = "Double", published_variable = "ns=1;s=Speed" }]
//!
//!     [[connections]]
//!     publisher_id = 5
//!     address = "opc.udp://239.0.0.1:4840"
//!
//!     [[connections.writer_groups]]
//!     writer_group_id = 1
//!     publishing_interval = "10ms"
//!     header_layout = "UADP-Periodic-Fixed"
//!
//!     [[connections.writer_groups.data_set_writers]]
//!     data_set_writer_id = 1
//!     data_set_name = "Spindle"
//! "#;
//! const SUBSCRIBER: &str = r#"
//!     [[connections]]
//!     address = "opc.udp://239.0.0.1:4840"
//!
//!     [[connections.reader_groups]]
//!     [[connections.reader_groups.data_set_readers]]
//!     publisher_id = 5
//!     writer_group_id = 1
//!     data_set_writer_id = 1
//!     header_layout = "UADP-Periodic-Fixed"
//!     uadp = { network_message_number = 1 }
//!     fields = [{ name = "Speed", data_type = "Double", target_node_id = "ns=1;s=ReceivedSpeed" }]
//! "#;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The Publisher reads a cell, which a real-time thread sets in each of its cycles.
//! let speed = Arc::new(Cell::of(&Variant::Double(0.0)));
//! let mut source = HashMap::from([(NodeId::string(1, "Speed"), speed.clone())]);
//! let configuration = from_toml(PUBLISHER)?.configuration;
//! let connection = &configuration.connections[0];
//! let data_sets = &configuration.published_data_sets;
//! let mut group = WriterGroup::new(connection, &connection.writer_groups[0], data_sets, &mut source)?;
//!
//! // The Subscriber writes another cell.
//! let received = Arc::new(Cell::of(&Variant::Double(0.0)));
//! let mut target = HashMap::from([(NodeId::string(1, "ReceivedSpeed"), received.clone())]);
//! let configuration = from_toml(SUBSCRIBER)?.configuration;
//! let mut subscriber = Subscriber::new(&configuration.connections[0], &[], &mut target)?;
//!
//! // One publishing interval.
//! speed.set_f64(1500.0, StatusCode::Good, DateTime::now())?;
//! let mut messages: Vec<Vec<u8>> = Vec::new();
//! group.publish(Now::read(), PubSubState::Operational, &mut messages)?;
//! for message in &mut messages {
//!     subscriber.receive(Now::read(), PubSubState::Operational, message, &mut ())?;
//! }
//! assert_eq!(received.get()?.value, Some(Variant::Double(1500.0)));
//! # Ok(())
//! # }
//! ```
//!
//! [`Cell`]: takt_cell::Cell
//! [`PubSubConfiguration2DataType`]: takt_ua::structures::PubSubConfiguration2DataType

#![forbid(unsafe_code)]

pub mod action;
#[cfg(feature = "runtime")]
mod authentication;
#[cfg(feature = "runtime")]
pub mod check;
pub mod configuration;
mod directory;
pub mod discovery;
mod equal_lengths;
mod error;
#[cfg(any(feature = "runtime", feature = "toml"))]
mod link_times;
mod losses;
mod message_numbers;
pub mod monitor;
pub mod publisher;
#[cfg(feature = "runtime")]
pub mod runtime;
pub mod security;
mod sequence;
mod settings;
mod state;
pub mod subscriber;
mod time;

pub use directory::{DataSetDirectory, DataSetsOfMessage};
pub use error::{ConfigurationError, ConfigurationProblem, PublishError, ReceiveError};
pub use losses::{LossCause, Losses};
pub use sequence::{Order, SequenceNumber, SequenceNumbers};
pub use time::Now;
