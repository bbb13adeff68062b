//! Runtime directory: the place where applications of one user or group meet, their names, and cleaning up after crashed
//! processes.

pub(crate) mod bystander;
pub(crate) mod clean_report;
#[cfg(feature = "iceoryx2")]
mod configuration;
#[cfg(feature = "iceoryx2")]
pub(crate) mod dead_nodes;
pub(crate) mod group;
pub(crate) mod group_directory;
#[cfg(feature = "iceoryx2")]
pub(crate) mod ipc;
#[cfg(feature = "iceoryx2")]
pub(crate) mod leftovers;
pub(crate) mod location;
#[cfg(feature = "iceoryx2")]
mod management;
mod name_files;
pub(crate) mod name_lock;
#[cfg(feature = "iceoryx2")]
mod node;
pub(crate) mod public_files;
pub(crate) mod runtime;
mod sweep;
