//! Scenarios of plants: PubSub configurations and a network file become a scenario, from which bounds, simulations and queueing
//! disciplines are made. This crate opens no file and no socket.
//!
//! * [`PlantConfiguration`] is a configuration with the lines of its file. [`PlantFile`] is the network file: topology, disciplines,
//!   and the devices that run configurations.
//! * [`scenario_of_plant`] finds the frames of each WriterGroup with their greatest length, the readers by their identity, and the
//!   paths by the topology. The result is text with file and line of each value, and lists of [`PlantAssumption`] and
//!   [`PlantWarning`].
//! * Lengths are those of messages that are made by `takt_pubsub::publisher` with the longest values that the metadata allows.
//! * Parts that a scenario cannot have, such as Events and messages that are longer than a frame, are faults
//!   ([`PlantError`]).
//!
//! # Example
//!
//! ```
//! use takt_plant::{PlantConfiguration, scenario_of_plant};
//! use takt_pubsub::configuration::from_toml;
//! use takt_scenario::{PlantFile, Scenario};
//!
//! const PRESS: &str = r#"
//! [[published_data_sets]]
//! name = "Press"
//! fields = [{ name = "Force", data_type = "Double", published_variable = "ns=1;s=Force" }]
//!
//! [[connections]]
//! name = "Ethernet"
//! publisher_id = 5
//! address = "opc.eth://01-00-5E-00-00-01:10.6"
//! network_interface = "eth0"
//!
//! [[connections.writer_groups]]
//! name = "Fast"
//! writer_group_id = 1
//! publishing_interval = "1ms"
//! uadp = { publishing_offset = ["200us"] }
//!
//! [[connections.writer_groups.data_set_writers]]
//! data_set_writer_id = 1
//! data_set_name = "Press"
//! "#;
//! const ROBOT: &str = r#"
//! [[connections]]
//! address = "opc.eth://01-00-5E-00-00-01:10.6"
//! network_interface = "eth0"
//!
//! [[connections.reader_groups]]
//! [[connections.reader_groups.data_set_readers]]
//! publisher_id = 5
//! writer_group_id = 1
//! data_set_writer_id = 1
//! message_receive_timeout = "10ms"
//! "#;
//! const PLANT: &str = r#"
//! version = 1
//! nodes = [{ name = "press" }, { name = "robot" }, { name = "bridge", kind = "bridge" }]
//! links = [{ ends = ["press", "bridge"] }, { ends = ["bridge", "robot"] }]
//! devices = [
//!     { node = "press", configurations = ["press.toml"] },
//!     { node = "robot", configurations = ["robot.toml"] },
//! ]
//! "#;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let configurations = [("press.toml", PRESS), ("robot.toml", ROBOT)];
//! let configurations = configurations
//!     .map(|(name, text)| Ok::<_, Box<dyn std::error::Error>>(PlantConfiguration::new(name, from_toml(text)?, Some(text))));
//! let configurations = configurations.into_iter().collect::<Result<Vec<_>, _>>()?;
//! let plant = PlantFile::parse(PLANT, "plant.toml")?;
//! let made = scenario_of_plant(&plant, &configurations)?;
//!
//! let scenario = Scenario::parse(&made.text, "scenario.toml")?;
//! let flow = &scenario.flows()[0];
//! assert_eq!(scenario.flow_name(flow.source), "press/Fast");
//! assert_eq!((flow.pcp, flow.ports.len()), (6, 2));
//! // Flags and PublisherId 4, GroupHeader 5, PayloadHeader 3, DataSetMessage header 5, FieldCount 2, and a Double, which is 15 B
//! // long if its value is Uncertain.
//! assert_eq!(flow.frame.payload(), 34);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod agreement;
mod announcements;
mod configuration;
mod entries;
mod error;
mod flow;
mod heard;
mod identity;
mod instances;
mod launch_check;
mod length;
mod lines;
mod notes;
mod payload;
mod plant;
mod receivers;
mod routes;
mod security;
mod sent;
mod timing;
mod wake_up;
mod write;
mod write_application;

pub use configuration::{PlantConfiguration, ValueOrigin};
pub use error::{ConfigurationFault, PlantError};
pub use notes::{PlantAssumption, PlantWarning};
pub use plant::{PlantFlow, PlantScenario, scenario_of_plant};
#[doc(no_inline)]
pub use takt_scenario::PlantFile;
