//! Results of an import.

use takt_ua::NodeId;

/// Results of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedNodeSet {
    /// Name of the document.
    pub name: String,
    /// URIs of the models that the document defines.
    pub models: Vec<String>,
    /// Number of nodes.
    pub nodes: usize,
    /// References to nodes that do not exist.
    pub dangling: Vec<DanglingReference>,
}

/// A reference to a node that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DanglingReference {
    /// Line of the document that has the reference.
    pub line: u32,
    /// The node that has the reference.
    pub node_id: NodeId,
    /// The node that does not exist.
    pub target: NodeId,
}
