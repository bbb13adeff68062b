//! Subscribers: ReaderGroups and what is in them.

mod connection;
mod data_set_reader;
mod decoding;
mod filter;
mod fixed;
mod incoming;
mod json;
mod json_discovery;
mod protection;
mod received;
mod reception;
mod target;

pub use connection::{Reception, Subscriber};
pub use data_set_reader::{DataSetReader, ReaderStatistics};
pub(crate) use filter::same_publisher;
pub(crate) use json::is_json;
pub use received::{DataSetKind, Observer, ReceivedDataSet};
pub use target::{DataTarget, FieldTarget, SubscribedField, WriteCallback};
