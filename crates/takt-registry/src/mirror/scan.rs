//! The address space of a foreign server as plain data, browsed within limits.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use takt_app::client::{AnswerBudget, Client, Follow};
use takt_app::{Attribute, ClientError};
use takt_ua::binary::Encode;
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::ReferenceDescription;
use takt_ua::{LocalizedText, NodeId, QualifiedName, Variant, ids};

use super::budget::{self, MirrorMemory};

/// Names of what is counted.
const KEPT: &str = "kept";
const REFERENCES: &str = "references";

/// Error of a scan.
#[derive(Debug, thiserror::Error)]
pub(super) enum ScanError {
    /// The server cannot be browsed or read.
    #[error(transparent)]
    Client(ClientError),
    /// The server has more than a mirror takes; see [`budget`].
    #[error("it has more than {limit} {of}: a mirror takes no more")]
    Limit {
        /// Largest number.
        limit: usize,
        /// The counted things.
        of: &'static str,
    },
    /// Another session has begun meanwhile, in which the server may have other NamespaceIndexes.
    #[error("its session was replaced meanwhile")]
    OtherSession,
    /// The registry ends.
    #[error("the registry ends")]
    Stopped,
}

impl From<ClientError> for ScanError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::TooMuch { limit, of, .. } => Self::Limit {
                limit,
                of: match of {
                    KEPT => "bytes of names and attributes",
                    REFERENCES => "bytes of references in one answer",
                    _ => "bytes in one answer",
                },
            },
            error => Self::Client(error),
        }
    }
}

/// A node of the server. NamespaceIndexes are those of the server.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) node_id: NodeId,
    pub(super) class: NodeClass,
    pub(super) browse_name: QualifiedName,
    pub(super) display_name: LocalizedText,
    pub(super) type_definition: NodeId,
    /// True for a type, and for a node that is part of a type.
    pub(super) is_type: bool,
    pub(super) attributes: Vec<(Attribute, Variant)>,
    /// Forward references: ReferenceType and target.
    pub(super) references: Vec<(NodeId, NodeId)>,
}

impl Found {
    /// Returns an attribute.
    pub(super) fn attribute(&self, attribute: Attribute) -> Option<&Variant> {
        let mut known = self.attributes.iter();
        known
            .find(|(known, _)| *known == attribute)
            .map(|(_, value)| value)
    }
}

/// Everything of the server that is mirrored.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// NamespaceArray of the server.
    pub(super) namespaces: Vec<String>,
    /// The nodes, those of types first. Nodes of namespace 0 are left out.
    pub(super) nodes: Vec<Found>,
    /// Nodes directly below the Objects folder, with the ReferenceType.
    pub(super) roots: Vec<(NodeId, NodeId)>,
    /// Types that are subtypes of a type of namespace 0, with that type.
    pub(super) subtypes: Vec<(NodeId, NodeId)>,
}

/// Scans the server of `client`.
pub(super) fn scan(
    client: &mut Client,
    memory: MirrorMemory,
    stop: &AtomicBool,
) -> Result<Scan, ScanError> {
    let namespaces = client.namespace_array()?;
    let session = client.epoch();
    let too_long = |uri: &String| uri.len() > budget::MAX_URI;
    if namespaces.len() > budget::MAX_NAMESPACES || namespaces.iter().any(too_long) {
        return Err(limit(budget::MAX_NAMESPACES, "namespaces of 1024 bytes"));
    }
    let mut scanner = Scanner {
        client,
        memory,
        stop,
        known: HashSet::new(),
        hierarchical: HashSet::new(),
        references: 0,
        kept: AnswerBudget::new(memory.nodes),
        next: 0,
        scan: Scan {
            namespaces,
            ..Scan::default()
        },
    };
    scanner.types()?;
    scanner.instances()?;
    scanner.attributes()?;
    // In another session, the namespaces may have other indexes.
    match scanner.client.epoch() == session {
        true => Ok(scanner.scan),
        false => Err(ScanError::OtherSession),
    }
}

fn limit(limit: usize, of: &'static str) -> ScanError {
    ScanError::Limit { limit, of }
}

struct Scanner<'a> {
    client: &'a mut Client,
    memory: MirrorMemory,
    stop: &'a AtomicBool,
    known: HashSet<NodeId>,
    /// The ReferenceTypes that lead to children.
    hierarchical: HashSet<NodeId>,
    references: usize,
    /// Memory of everything that is kept.
    kept: AnswerBudget,
    /// Position of the first node that is not browsed.
    next: usize,
    scan: Scan,
}

impl Scanner<'_> {
    /// Finds the types beyond namespace 0, with everything that belongs to them.
    fn types(&mut self) -> Result<(), ScanError> {
        let mut seen = HashSet::new();
        for root in [
            ids::REFERENCES,
            ids::BASE_DATA_TYPE,
            ids::BASE_OBJECT_TYPE,
            ids::BASE_VARIABLE_TYPE,
        ] {
            let mut level = vec![NodeId::from(root)];
            while !level.is_empty() {
                let mut next = Vec::new();
                for batch in level.chunks(budget::BROWSE) {
                    let follow = Follow::forward(ids::HAS_SUBTYPE);
                    for (node, references) in batch.iter().zip(self.browse(batch, &follow)?) {
                        for reference in references {
                            let subtype = reference.node_id.node_id.clone();
                            if !seen.insert(subtype.clone()) {
                                continue;
                            }
                            self.keep(std::slice::from_ref(&subtype))?;
                            if seen.len() > budget::MAX_NODES {
                                return Err(limit(budget::MAX_NODES, "types"));
                            }
                            next.push(subtype.clone());
                            if subtype.namespace != 0 {
                                // References of nodes of namespace 0 are not scanned, so this one is kept here.
                                if node.namespace == 0 {
                                    self.scan.subtypes.push((node.clone(), subtype));
                                }
                                self.note(reference, true)?;
                            } else if root == ids::REFERENCES
                                && self.is_below_hierarchical(node, &subtype)
                            {
                                self.hierarchical.insert(subtype);
                            }
                        }
                    }
                }
                level = next;
            }
        }
        self.extend_hierarchical()?;
        self.walk(true)
    }

    fn is_below_hierarchical(&self, parent: &NodeId, node: &NodeId) -> bool {
        let hierarchical = NodeId::from(ids::HIERARCHICAL_REFERENCES);
        *node == hierarchical || self.hierarchical.contains(parent)
    }

    /// Adds the hierarchical ReferenceTypes beyond namespace 0.
    fn extend_hierarchical(&mut self) -> Result<(), ScanError> {
        let mut level: Vec<NodeId> = self.hierarchical.iter().cloned().collect();
        while !level.is_empty() {
            let mut next = Vec::new();
            for batch in level.chunks(budget::BROWSE) {
                let follow = Follow::forward(ids::HAS_SUBTYPE);
                for reference in self.browse(batch, &follow)?.into_iter().flatten() {
                    let subtype = reference.node_id.node_id;
                    if self.hierarchical.insert(subtype.clone()) {
                        self.keep(std::slice::from_ref(&subtype))?;
                        next.push(subtype);
                    }
                }
            }
            level = next;
        }
        Ok(())
    }

    /// Finds the nodes below the Objects folder.
    fn instances(&mut self) -> Result<(), ScanError> {
        let objects = NodeId::from(ids::OBJECTS_FOLDER);
        let references = self.browse(std::slice::from_ref(&objects), &Follow::children())?;
        for reference in references.into_iter().flatten() {
            let node = reference.node_id.node_id.clone();
            if node.namespace != 0 && reference.node_id.server_index == 0 {
                let reference_type = reference.reference_type_id.clone();
                self.keep(&[reference_type.clone(), node.clone()])?;
                self.scan.roots.push((reference_type, node));
                self.note(reference, false)?;
            }
        }
        self.walk(false)
    }

    /// Browses the nodes that were found, and those that are found by that.
    fn walk(&mut self, is_type: bool) -> Result<(), ScanError> {
        let all = Follow::forward(ids::REFERENCES);
        while self.next < self.scan.nodes.len() {
            let end = self.scan.nodes.len().min(self.next + budget::BROWSE);
            let batch = self.scan.nodes.get(self.next..end).unwrap_or_default();
            let batch: Vec<NodeId> = batch.iter().map(|node| node.node_id.clone()).collect();
            let results = self.browse(&batch, &all)?;
            for (position, references) in (self.next..).zip(results) {
                for reference in references {
                    // The node is at another server, where this client cannot read it.
                    if reference.node_id.server_index != 0 {
                        continue;
                    }
                    let reference_type = reference.reference_type_id.clone();
                    let target = reference.node_id.node_id.clone();
                    if let Some(node) = self.scan.nodes.get_mut(position) {
                        let pair = (reference_type.clone(), target.clone());
                        node.references.push(pair);
                        self.keep(&[reference_type.clone(), target.clone()])?;
                    }
                    // Conditions need no hierarchical reference to them (OPC 10000-9, 5.12).
                    let is_standard = |id| reference_type.standard_id() == Some(id);
                    let leads_on = self.hierarchical.contains(&reference_type)
                        || is_standard(ids::HAS_ENCODING)
                        || is_standard(ids::HAS_CONDITION);
                    if leads_on && target.namespace != 0 {
                        self.note(reference, is_type)?;
                    }
                }
            }
            self.next = end;
        }
        Ok(())
    }

    /// Keeps a node, unless it is known.
    fn note(&mut self, reference: ReferenceDescription, is_type: bool) -> Result<(), ScanError> {
        if self.known.contains(&reference.node_id.node_id) {
            return Ok(());
        }
        self.keep(std::slice::from_ref(&reference))?;
        let node_id = reference.node_id.node_id;
        self.known.insert(node_id.clone());
        if self.known.len() > budget::MAX_NODES {
            return Err(limit(budget::MAX_NODES, "nodes"));
        }
        let node = Found {
            node_id,
            class: reference.node_class,
            browse_name: reference.browse_name,
            display_name: reference.display_name,
            type_definition: reference.type_definition.node_id,
            is_type,
            attributes: Vec::new(),
            references: Vec::new(),
        };
        self.scan.nodes.push(node);
        Ok(())
    }

    /// Counts the memory of what is kept.
    fn keep<T: Encode>(&mut self, items: &[T]) -> Result<(), ScanError> {
        Ok(self.kept.take(self.client.endpoint(), KEPT, items)?)
    }

    /// Browses nodes in one request. A node that cannot be browsed has no references.
    fn browse(
        &mut self,
        nodes: &[NodeId],
        follow: &Follow,
    ) -> Result<Vec<Vec<ReferenceDescription>>, ScanError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(ScanError::Stopped);
        }
        let mut answers = AnswerBudget::new(self.memory.answers);
        let results = self
            .client
            .browse_many_within(nodes, follow, &mut answers)?;
        let results: Vec<_> = results.into_iter().map(Result::unwrap_or_default).collect();
        let count: usize = results.iter().map(Vec::len).sum();
        self.references += count;
        // At the limit, the results may have been cut off.
        match self.references < budget::MAX_REFERENCES {
            true => Ok(results),
            false => Err(limit(budget::MAX_REFERENCES, "references")),
        }
    }

    /// Reads the attributes that a copy of the nodes needs.
    fn attributes(&mut self) -> Result<(), ScanError> {
        let mut wanted: Vec<(usize, NodeId, Attribute)> = Vec::new();
        for (position, node) in self.scan.nodes.iter().enumerate() {
            for attribute in of_class(node.class) {
                wanted.push((position, node.node_id.clone(), *attribute));
            }
        }
        for batch in wanted.chunks(budget::READ) {
            if self.stop.load(Ordering::Relaxed) {
                return Err(ScanError::Stopped);
            }
            let items: Vec<(NodeId, Attribute)> = batch
                .iter()
                .map(|(_, node, attribute)| (node.clone(), *attribute))
                .collect();
            let values = self.client.read_attributes(&items)?;
            for ((position, _, attribute), value) in batch.iter().zip(values) {
                // Some attributes are optional: the copy has their defaults then.
                let Some(value) = value.value.filter(|value| !value.is_empty()) else {
                    continue;
                };
                let size = value.encode_to_vec().len();
                // The node is copied without this attribute.
                if size > budget::MAX_VALUE {
                    continue;
                }
                self.kept.take_bytes(self.client.endpoint(), KEPT, size)?;
                if let Some(node) = self.scan.nodes.get_mut(*position) {
                    node.attributes.push((*attribute, value));
                }
            }
        }
        Ok(())
    }
}

/// Returns the attributes of a NodeClass that a copy needs.
fn of_class(class: NodeClass) -> &'static [Attribute] {
    use Attribute as A;
    match class {
        NodeClass::Object => &[A::EventNotifier],
        NodeClass::Variable => &[
            A::DataType,
            A::ValueRank,
            A::ArrayDimensions,
            A::AccessLevel,
            A::UserAccessLevel,
        ],
        NodeClass::VariableType => &[A::DataType, A::ValueRank, A::IsAbstract],
        NodeClass::ObjectType => &[A::IsAbstract],
        NodeClass::DataType => &[A::IsAbstract, A::DataTypeDefinition],
        NodeClass::ReferenceType => &[A::IsAbstract, A::Symmetric, A::InverseName],
        _ => &[],
    }
}
