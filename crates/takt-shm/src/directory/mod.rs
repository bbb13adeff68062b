//! Runtime directory: the place where applications of one user or group meet, their names, and cleaning up after crashed
//! processes.

pub(crate) mod bystander;
pub(crate) mod clean;
mod configuration;
pub(crate) mod dead_nodes;
pub(crate) mod group;
pub(crate) mod group_directory;
pub(crate) mod leftovers;
pub(crate) mod location;
mod management;
mod name_files;
pub(crate) mod name_lock;
mod node;
pub(crate) mod presence;
pub(crate) mod runtime;
mod sweep;
