//! Bundle of a run: one archive with its files, without names of users and hosts, so that others can judge it.
//!
//! * [`RunBundle`] has the files of a run in a folder of its own: descriptions with known facts only, captures with messages of the run
//!   only, whose hardware addresses are replaced. Captures may be long: none of them is held in memory.
//! * [`BundleWorkplace`] is that folder.
//! * [`PrivateNames`] are the names of this host and its user. A file that has one of them is not packed.
//!
//! The same run gives the same archive, byte by byte.

mod archive;
mod captured;
mod described;
mod error;
mod names;
mod packed;
mod workplace;

pub use error::BundleError;
pub use names::PrivateNames;
pub use packed::RunBundle;
pub use workplace::{BundleWorkplace, remove_killed_bundles};
