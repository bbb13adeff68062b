//! Runtime directory: the place where applications of one user or group meet, their names, and cleaning up after crashed
//! processes.

pub(crate) mod bystander;
pub(crate) mod clean;
pub(crate) mod group;
pub(crate) mod group_directory;
pub(crate) mod leftovers;
mod management;
pub(crate) mod name_lock;
pub(crate) mod presence;
pub(crate) mod runtime;
