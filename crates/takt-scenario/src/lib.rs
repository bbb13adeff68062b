//! Scenarios: nodes and links, a queueing discipline at each port, PubSub applications and other traffic. A scenario is one TOML
//! file, from which bounds are computed (`takt-calculus`) and simulations run. This crate contains no curves, events or sockets.
//!
//! * [`Scenario::parse`] reads and checks a file, and reports for each mistake its position and the text that was probably meant.
//!   `docs/scenario.md` is the reference of the file, [`schema`] its JSON Schema, and [`template`] writes files to begin with.
//! * Everything in a [`Scenario`] is resolved: names are indices, routes are found ([`Scenario::flows`]), slopes and credits computed.
//! * [`CampaignFile`] reads the file of a campaign in the same way: scenarios, swept fields and repetitions.
//! * [`PlantFile`] reads a network file: the network of a scenario, and the devices that run PubSub configurations.
//! * [`ScenarioFile::variants`] returns the scenarios of a file with sweeps.
//! * Quantities are integers in one unit each: [`Duration`] picoseconds, [`Rate`] bit/s, [`Size`] bytes.
//! * [`Frame`]: sizes of payload, of the L2 frame and on the wire.
//!
//! # Example
//!
//! A controller sends a message to a drive every millisecond, over a bridge. The scenario answers which ports the message passes;
//! a misspelt unit is reported with its line.
//!
//! ```
//! use takt_scenario::Scenario;
//!
//! const TEXT: &str = r#"
//! version = 1
//!
//! [topology]
//! kind = "bridged"
//! rate = "1 Gbit/s"
//!
//! [[applications]]
//! name = "control"
//! publisher = "host1"
//! subscriber = "host2"
//! cycle = "1 ms"
//! payload = "100 B"
//! "#;
//!
//! # fn main() -> Result<(), takt_scenario::ScenarioError> {
//! let scenario = Scenario::parse(TEXT, "drive.toml")?;
//! let flow = &scenario.flows()[0];
//! assert_eq!(scenario.flow_name(flow.source), "control");
//! let ports: Vec<String> = flow.ports.iter().map(|port| scenario.port_name(*port)).collect();
//! assert_eq!(ports, ["host1 → bridge1", "bridge1 → host2"]);
//! // The payload with header, VLAN tag, frame check sequence, preamble and inter-frame gap.
//! assert_eq!(flow.frame.physical(), 100 + 18 + 4 + 20);
//!
//! let error = Scenario::parse(&TEXT.replace("1 ms", "1 msec"), "drive.toml").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "drive.toml: line 12, column 9: `1 msec` is not a time: did you mean \"1 ms\"?"
//! );
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod campaign;
mod discipline;
mod document;
mod error;
mod fields;
mod frame;
mod histogram_files;
mod identity;
mod model;
pub mod names;
mod part;
mod plant;
mod quantity;
mod read;
mod scenario;
mod scenario_file;
mod schema;
mod settings;
mod shape;
mod sweep;
pub mod template;
pub mod toml_text;

pub use campaign::{
    CampaignBackend, CampaignFile, CampaignSweep, CampaignText, DerivedField, NotDerived, StopRule,
    SweptName,
};
pub use discipline::*;
pub use error::{Mistake, ScenarioError};
pub use frame::{Frame, FrameTooLong, REPEATED_NODE_COUNTS};
pub use identity::WRITER_GROUP_ID;
pub use model::*;
pub use part::Part;
pub use plant::{
    PlantDevice, PlantFile, PlantMulticast, PlantPath, PlantText, PlantWriterGroup, WrittenTable,
};
pub use quantity::{
    Credit, Drift, Duration, Length, QuantityError, QuantityFlaw, Rate, Share, SignedDuration, Size,
};
pub use scenario::{Flow, FlowSource, Fork, Scenario};
pub use scenario_file::{ScenarioFile, ScenarioVariant};
pub use schema::{
    ScenarioField, campaign_fields, campaign_schema, fields, plant_fields, plant_schema, schema,
};
pub use sweep::Sweep;
