//! Publishers: WriterGroups and their DataSetWriters.

mod change;
mod data_set_writer;
mod data_value;
mod fixed_message;
mod json;
mod longest_value;
mod mapping;
mod meta_data;
mod output;
mod plan;
mod protection;
mod simulation;
mod source;
mod uadp;
mod writer_group;

pub use data_set_writer::DataSetWriter;
pub use longest_value::{longest_length, longest_value};
pub use output::{KeptMessage, Output, Reserved};
pub(crate) use protection::Protection;
pub use simulation::SimulatedValues;
pub use source::{DataSource, FieldSource, PublishedField};
pub use writer_group::{PublishedMessages, WriterGroup};
