//! Directory of a run from files that were made by hand: traces of `takt publish` and `takt loopback`, and captures, of one host
//! or two.
//!
//! Everything is checked before anything is written: all files must be of one run of one scenario.

mod captures;
mod causality;
mod collecting;
mod error;
mod request;
mod traces;
mod written;

pub use crate::run_directory::BY_HAND;
pub use collecting::{CollectedRun, collect};
pub use error::CollectError;
pub use request::CollectRequest;
pub(crate) use written::{DISCIPLINES, REMARK};
