//! Subscribers: ReaderGroups and their DataSetReaders.

mod cell_parts;
mod conformity;
mod connection;
mod damage;
mod data_set_kind;
mod data_set_reader;
mod decoding;
mod discovered;
mod expected;
mod filter;
mod fixed;
mod identity;
mod incoming;
mod json;
mod json_discovery;
mod mapping;
mod memory;
mod origin;
mod protection;
mod received;
mod reception;
mod same_publisher;
mod target;

#[cfg(feature = "runtime")]
pub(crate) use cell_parts::CellParts;
pub use connection::{Reception, Subscriber};
pub use data_set_kind::DataSetKind;
pub use data_set_reader::{DataSetReader, ReaderStatistics};
pub(crate) use mapping::is_json;
pub use memory::DEFAULT_MAX_MEMORY;
pub(crate) use memory::{meta_data_size, text_size};
pub use origin::{MessageSender, Origin};
pub use received::{ReceivedDataSet, SubscriberObserver};
pub(crate) use same_publisher::same_publisher;
pub use target::{DataTarget, FieldTarget, SubscribedField, WriteCallback};
