//! The nodes that a document may refer to.

use std::collections::HashMap;

use takt_nodeset::UaNode;
use takt_ua::NodeId;
use takt_ua::enumerations::NodeClass;

use super::error::{ImportError, ImportReason};
use crate::address_space::View;

/// The nodes of the document and those of the address space.
pub(super) struct Nodes<'a, 'n, 'v> {
    pub(super) document: HashMap<&'a NodeId, &'a UaNode>,
    pub(super) view: &'n View<'v>,
    pub(super) file: &'n str,
}

impl Nodes<'_, '_, '_> {
    pub(super) fn class(&self, node_id: &NodeId) -> Option<NodeClass> {
        match self.document.get(node_id) {
            Some(node) => Some(node.class()),
            None => self.view.node(node_id).map(|node| node.node_class()),
        }
    }

    pub(super) fn error(&self, line: u32, reason: ImportReason) -> ImportError {
        ImportError::new(self.file, line, reason)
    }

    /// Fails if there is no such node of one of these NodeClasses.
    pub(super) fn require(
        &self,
        line: u32,
        node_id: &NodeId,
        role: &'static str,
        classes: &[NodeClass],
    ) -> Result<(), ImportError> {
        match self.class(node_id) {
            Some(class) if classes.contains(&class) => Ok(()),
            _ => Err(self.error(
                line,
                ImportReason::TypeUnknown {
                    role,
                    node_id: node_id.clone(),
                },
            )),
        }
    }
}
