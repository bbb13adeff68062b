//! Scenarios: nodes and links, a queueing discipline at each port, PubSub applications and other traffic. A scenario is one TOML
//! file, from which bounds are computed (`takt-calculus`) and simulations run. This crate contains no curves, events or sockets.
//!
//! * [`Scenario::parse`] reads and checks a file, and reports for each mistake its position and the text that was probably meant.
//!   `docs/scenario.md` is the reference of the file, [`schema`] its JSON Schema, and [`template`] writes files to begin with.
//! * Everything in a [`Scenario`] is resolved: names are indices, routes are found ([`Scenario::flows`]), slopes and credits computed.
//! * [`ScenarioFile::variants`] returns the scenarios of a file with sweeps.
//! * Quantities are integers in one unit each: [`Duration`] picoseconds, [`Rate`] bit/s, [`Size`] bytes.
//! * [`Frame`]: sizes of payload, of the L2 frame and on the wire.

#![forbid(unsafe_code)]

mod document;
mod error;
mod fields;
mod frame;
mod model;
mod quantity;
mod read;
mod scenario;
mod schema;
mod shape;
mod sweep;
pub mod template;

pub use error::{Mistake, ScenarioError};
pub use frame::{Frame, FrameTooLong, REPEATED_NODE_COUNTS};
pub use model::*;
pub use quantity::{
    Credit, Drift, Duration, Length, QuantityError, QuantityFlaw, Rate, Share, SignedDuration, Size,
};
pub use scenario::{Flow, FlowSource, Scenario, ScenarioFile, Variant};
pub use schema::{FieldDescription, fields, schema};
pub use sweep::Sweep;
