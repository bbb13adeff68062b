//! Measured delays, and results of campaigns, as Parquet files, for tools that read columns. [`DelayFile`] has one row for each delay of each message:
//!
//! | column | type | content |
//! |---|---|---|
//! | `run`, `case`, `application` | text | place of the message; empty where there is none |
//! | `interval` | text | interval between two trace points, with the kind of a round trip |
//! | `counter` | unsigned integer, 64 bits | counter of the message |
//! | `began` | time stamp, nanoseconds, UTC | beginning of the interval |
//! | `delay_ns` | integer, 64 bits | delay in nanoseconds |
//! | `counted` | truth value | false if the message is left out at an end of the run |
//!
//! [`write_samples`] has one row for each answered request of a comparison of middleware: `peer`, `mode` (text), `bytes`, `round`,
//! `nanos` (integers, 64 bits).
//!
//! [`ParquetTable`] has columns that its caller names: a campaign has one for each setting and quantity.
//!
//! Parquet is a crate of its own, because its library takes longer to build than all other output of Takt.

#![forbid(unsafe_code)]

mod delays;
mod samples;
mod table;
mod texts;

pub use delays::{DelayFile, DelayFileError, DelayRow};
pub use samples::{SampleRow, write_samples};
pub use table::{CellKind, ParquetCell, ParquetTable, ParquetTableError};
