//! Publishers and subscribers of OPC 10000-14: PublishedDataSets, WriterGroups and DataSetWriters, ReaderGroups and
//! DataSetReaders, with their parameters, states and security.
//!
//! A configuration is what the standard says it is, a [`PubSubConfiguration2DataType`]; there is no second model.
//!
//! Sans-io: time and messages go in, messages and events come out. What sends and receives them is `takt-link`.
//!
//! [`PubSubConfiguration2DataType`]: takt_ua::structures::PubSubConfiguration2DataType

pub mod configuration;
mod error;
pub mod publisher;
mod sequence;
mod settings;
mod state;
pub mod subscriber;
mod time;

pub use error::{ConfigurationError, ConfigurationProblem, PublishError, ReceiveError};
pub use sequence::{Order, SequenceNumbers};
pub use time::Now;
