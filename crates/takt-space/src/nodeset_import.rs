//! Import of NodeSet2 documents (OPC 10000-6, Annex F) into the address space at run time.
//!
//! A document is checked completely before the first node is added: a refused one changes nothing. Problems that make a model
//! unusable are errors: missing models, types and ReferenceTypes, and NodeIds that are in use. A reference to a node that does
//! not exist is permitted (OPC 10000-3, 4.4.4); it is kept, and listed in [`ImportedNodeSet::dangling`].
//!
//! Values become stored values. Structures that the imported models define themselves, which documents contain as XML, are
//! turned into their binary encoding. RolePermissions and AccessRestrictions are not imported: they have no effect without user
//! authentication.

mod content;
mod definitions;
mod error;
mod imported;
mod models;
mod nodes;
mod plan;
mod types;

use std::collections::HashMap;

use takt_nodeset::{NodeSet, NodeSetDocument, ParseLimits};
use takt_ua::ExpandedNodeId;

pub use error::{ImportError, ImportReason};
pub use imported::{DanglingReference, ImportedNodeSet};

use crate::address_space::{AddressSpace, AddressSpaceError, Edit};
use plan::Plan;

/// Maximum number of attempts of an import; another attempt is needed if another thread extends the NamespaceArray meanwhile.
const MAX_ATTEMPTS: usize = 16;

impl AddressSpace {
    /// Imports a NodeSet document. Errors name it by `name`, usually its path.
    ///
    /// # Errors
    /// The document is not valid, needs a model that is missing, or does not fit the address space.
    pub fn import_nodeset(&self, name: &str, xml: &str) -> Result<ImportedNodeSet, ImportError> {
        self.import(name, xml, |_| {})
    }

    /// Imports the types of a NodeSet document, with the nodes below them, and no other node of it.
    ///
    /// # Errors
    /// The errors of [`import_nodeset`](Self::import_nodeset).
    pub fn import_types(&self, name: &str, xml: &str) -> Result<ImportedNodeSet, ImportError> {
        self.import(name, xml, types::retain)
    }

    /// Imports several NodeSet documents, each with its name, after those that they require; their order in `documents` does
    /// not matter.
    ///
    /// # Errors
    /// The errors of [`import_nodeset`](Self::import_nodeset). Documents that were imported before the failing one stay.
    pub fn import_nodesets<N: AsRef<str>, X: AsRef<str>>(
        &self,
        documents: &[(N, X)],
    ) -> Result<Vec<ImportedNodeSet>, ImportError> {
        // Headers are parsed first, so that only one XML tree is in memory at a time.
        let headers = documents.iter().map(|(name, xml)| {
            let document =
                NodeSetDocument::parse(name.as_ref(), xml.as_ref(), &ParseLimits::DEFAULT)?;
            Ok(document.models().to_vec())
        });
        let headers = headers.collect::<Result<Vec<_>, ImportError>>()?;
        let order = models::order(&headers);
        let imports = order.into_iter().filter_map(|index| documents.get(index));
        imports
            .map(|(name, xml)| self.import_nodeset(name.as_ref(), xml.as_ref()))
            .collect()
    }

    /// Imports the nodes of a document that `select` retains.
    fn import(
        &self,
        name: &str,
        xml: &str,
        select: impl Fn(&mut NodeSet),
    ) -> Result<ImportedNodeSet, ImportError> {
        let document = NodeSetDocument::parse(name, xml, &ParseLimits::DEFAULT)?;
        // The edit begins before the checks: no other thread can add a model or a node between a check and the change.
        let mut edit = self.edit();
        models::check(&edit.view(), name, document.models())?;
        // The NamespaceArray has a lock of its own, so other threads may extend it meanwhile.
        for _ in 0..MAX_ATTEMPTS {
            let namespaces = self.namespaces().planned(document.namespace_uris());
            let mut nodeset =
                // The plan has each URI of the document, so the default is never used.
                document.nodes(|uri| namespaces.get(uri).copied().unwrap_or(u16::MAX))?;
            select(&mut nodeset);
            let plan = Plan::new(&edit.view(), &nodeset)?;
            // The namespaces are registered only after all checks, so that a refused document registers none.
            if self.register(name, &document, &namespaces)? {
                return apply(&mut edit, &nodeset, &plan);
            }
        }
        let source = AddressSpaceError::TooManyNamespaces {
            limit: usize::from(u16::MAX),
        };
        Err(ImportError::new(
            name,
            1,
            ImportReason::AddressSpace(source),
        ))
    }

    /// Registers the namespaces of the document. Returns true if all got the planned index.
    fn register(
        &self,
        name: &str,
        document: &NodeSetDocument<'_>,
        planned: &HashMap<&str, u16>,
    ) -> Result<bool, ImportError> {
        for uri in document.namespace_uris() {
            let index = self.namespaces().register(uri);
            let index = index
                .map_err(|source| ImportError::new(name, 1, ImportReason::AddressSpace(source)))?;
            if planned.get(uri.as_str()) != Some(&index) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Adds all nodes, then all references, then the values.
fn apply(
    edit: &mut Edit<'_>,
    nodeset: &NodeSet,
    plan: &Plan<'_>,
) -> Result<ImportedNodeSet, ImportError> {
    let failed =
        |line, source| ImportError::new(&nodeset.name, line, ImportReason::AddressSpace(source));
    // Without references: their other ends may be nodes that follow.
    for node in &nodeset.nodes {
        let definition = content::definition(node, plan.definition(&node.node_id));
        edit.add_node(definition, &[])
            .map_err(|source| failed(node.line, source))?;
    }
    for reference in &plan.references {
        let target = ExpandedNodeId::from(reference.target.clone());
        match edit.add_reference(
            &reference.source,
            &reference.reference_type,
            reference.is_forward,
            &target,
        ) {
            // An earlier import may have left a reference to this node.
            Ok(()) | Err(AddressSpaceError::DuplicateReference { .. }) => {}
            Err(source) => return Err(failed(reference.line, source)),
        }
    }
    // Values come last: their structures may be of types that the document itself defines.
    content::bind_values(edit, nodeset).map_err(|(line, source)| failed(line, source))?;
    Ok(ImportedNodeSet {
        name: nodeset.name.clone(),
        models: nodeset
            .models
            .iter()
            .map(|model| model.uri.clone())
            .collect(),
        nodes: nodeset.nodes.len(),
        dangling: plan.dangling.clone(),
    })
}
