//! Files of embedded databases (redb): opening, checking and creating them.
//!
//! * [`DatabaseFile`]: a file of one [`DatabaseKind`]. An empty file, one of another kind and a damaged one are refused and stay as
//!   they are. A new file appears under its name when it is complete.
//! * [`DatabaseFileError`]: path, kind and [`DatabaseFault`].
//!
//! redb verifies the checksums of pages when a file is opened with a check, and after a crash; it does not verify them when it reads.
//! All use of an open database belongs into [`DatabaseFile::guarded`]. The crate knows no table and has no thread.

#![forbid(unsafe_code)]

mod error;
mod file;

pub use error::{DatabaseFault, DatabaseFileError, TransactionError};
pub use file::{DatabaseFile, DatabaseKind, DatabaseOpener};
