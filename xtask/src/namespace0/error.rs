//! Errors of the NodeSet.

use crate::error::Error;

/// Name of the source of the nodes, for errors.
pub(super) const NODESET: &str = "Opc.Ua.NodeSet2.xml";

/// Returns the error of a NodeSet that this step does not support.
pub(super) fn invalid(message: impl std::fmt::Display) -> Error {
    Error::content(NODESET, message.to_string())
}
