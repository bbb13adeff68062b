//! Publishers and subscribers of OPC 10000-14: PublishedDataSets, WriterGroups and DataSetWriters, ReaderGroups and
//! DataSetReaders, with their parameters, states and security.
//!
//! A configuration is what the standard says it is, a [`PubSubConfiguration2DataType`]; there is no second model.
//!
//! * [`publisher`] and [`subscriber`] are sans-io: time and messages go in, messages and events come out.
//! * [`discovery`]: what Publishers tell of themselves, and how they are asked; sans-io too.
//! * [`action`]: Responders carry out what Requestors ask for; sans-io too.
//! * [`DataSetDirectory`]: what tools know of the DataSets of many Publishers.
//! * [`security`] protects messages, and keeps keys.
//! * `runtime`, a feature that is on by default, has the threads, and the links of `takt-link`, that run a configuration.
//!
//! [`PubSubConfiguration2DataType`]: takt_ua::structures::PubSubConfiguration2DataType

pub mod action;
pub mod configuration;
mod directory;
pub mod discovery;
mod error;
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
pub use sequence::{Order, SequenceNumbers};
pub use time::Now;
