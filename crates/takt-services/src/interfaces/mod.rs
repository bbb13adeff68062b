//! Interfaces of applications that have rules or data of their own. Those for users are in [`crate::identity`], that for audit
//! records is in [`crate::audit`].

pub(crate) mod discovery_server;
pub(crate) mod historian;
pub(crate) mod node_management;
pub(crate) mod session_observer;
