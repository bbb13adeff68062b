//! Network files of plants: the network of a scenario, and the devices that run PubSub configurations, as one TOML file.
//! `takt-plant` makes a scenario of it and of the configurations.

mod fields;
mod file;
mod read;
mod written;

pub(crate) use fields::PLANT;
pub use file::{PlantDevice, PlantFile, PlantMulticast, PlantPath, PlantText, PlantWriterGroup};
pub use written::WrittenTable;
