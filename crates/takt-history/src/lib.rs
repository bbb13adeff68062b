//! Embedded store of values, and the queries of Historical Access (OPC 10000-11) and aggregates (OPC 10000-13) over it.
//!
//! * [`Store`]: one file with the records of many Variables, bounded by size and age. Records are durable when
//!   [`Store::append`] returns.
//! * [`RawQuery`], [`AtTimeQuery`], [`ProcessedQuery`]: state machines that read [`Records`] in slices. They know no file,
//!   no clock and no service.
//! * [`block`]: the encoding of records in the store.
//!
//! The crate does not decide which Variables are recorded, and has no thread.

#![forbid(unsafe_code)]

mod aggregate;
mod at_time;
pub mod block;
mod bounds;
mod configuration;
mod error;
mod number;
mod output;
mod processed;
mod raw;
mod record;
mod records;
mod store;

pub use at_time::AtTimeQuery;
pub use configuration::AggregateSettings;
pub use error::HistoryError;
pub use output::{Budget, QueryOutput, QueryProgress, ValueForm};
pub use processed::ProcessedQuery;
pub use raw::{RawPosition, RawQuery, RawStage};
pub use record::{HistoryRecord, HistoryRecordRef};
pub use records::{MemoryRecords, Records};
pub use store::{
    Appended, HistoryStoreOptions, MAX_VALUE, Store, StoreReader, StoreTime, StoredRecords,
    VariableKey,
};
pub use takt_database::{DatabaseFault, DatabaseFileError};
pub use takt_ua::Aggregate;

/// Ticks of 100 ns in a second (OPC 10000-6, 5.2.2.5).
pub(crate) const TICKS_PER_SECOND: i64 = 10_000_000;
