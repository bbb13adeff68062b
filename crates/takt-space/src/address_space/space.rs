//! The address space: nodes in memory, ReferenceTypes and namespaces.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use papaya::HashMap;
use takt_rt::memory_budget::MemoryBudget;
use takt_ua::{DateTime, NodeId};

use super::attribute_writes::{AttributeWrites, Hook};
use super::change_lock::ChangeLock;
use super::computed::{ComputedNodes, Source};
use super::namespaces::Namespaces;
use super::node::Node;
use super::reference::ReferenceTypes;

/// Hasher with a seed per process, so that no client can choose NodeIds that collide.
pub(super) type Hasher = foldhash::fast::RandomState;
pub(super) type Nodes = HashMap<NodeId, Arc<Node>, Hasher>;

/// Nodes, references, and the sources of values.
#[derive(Debug)]
pub struct AddressSpace {
    pub(super) nodes: Nodes,
    pub(super) types: ReferenceTypes,
    pub(super) namespaces: Namespaces,
    /// Lock for changes of nodes and references.
    pub(super) changes: ChangeLock,
    /// Number of writable Variables with a remote source; Writes are searched for them only if there are any.
    pub(super) remote_targets: AtomicUsize,
    /// Number of Methods with a remote source; Calls are searched for them only if there are any.
    pub(super) remote_methods: AtomicUsize,
    pub(super) max_nodes: usize,
    /// The memory budget for additions by clients.
    pub(super) memory: MemoryBudget,
    pub(super) created: DateTime,
    pub(super) computed: Source,
    /// Rules for Writes of attributes.
    pub(super) attribute_writes: Hook,
}

impl AddressSpace {
    /// Creates an address space with only the nodes of namespace 0.
    ///
    /// The ApplicationUri is namespace 1 (OPC 10000-5, 6.3.1). `max_namespaces` limits the NamespaceArray, `max_nodes` the
    /// added nodes, and `memory` the bytes of nodes that clients add and of large values that they write.
    pub fn new(
        application_uri: &str,
        max_namespaces: usize,
        max_nodes: usize,
        memory: MemoryBudget,
    ) -> Self {
        Self {
            nodes: HashMap::builder().hasher(Hasher::default()).build(),
            types: ReferenceTypes::new(),
            namespaces: Namespaces::new(application_uri, max_namespaces),
            changes: ChangeLock::default(),
            remote_targets: AtomicUsize::new(0),
            remote_methods: AtomicUsize::new(0),
            max_nodes,
            memory,
            created: DateTime::now(),
            computed: OnceLock::new(),
            attribute_writes: Hook::default(),
        }
    }

    /// Sets the source of computed nodes. Only the first call has an effect.
    pub fn set_computed(&self, nodes: Arc<dyn ComputedNodes>) {
        let _ = self.computed.set(nodes);
    }

    /// Returns the NamespaceArray.
    pub fn namespaces(&self) -> &Namespaces {
        &self.namespaces
    }

    /// Sets the rules for Writes of attributes; a second call has no effect.
    pub fn set_attribute_writes(&self, rules: Arc<dyn AttributeWrites>) {
        self.attribute_writes.set(rules);
    }

    /// Returns the rules for Writes of attributes, if there are any.
    #[inline]
    #[must_use]
    pub fn attribute_writes(&self) -> Option<&dyn AttributeWrites> {
        self.attribute_writes.get()
    }

    /// Returns the time of creation of the address space: the source timestamp of values from the standard's table.
    pub fn created(&self) -> DateTime {
        self.created
    }

    /// Returns true if any writable Variable has a remote source.
    #[inline]
    pub fn has_remote_targets(&self) -> bool {
        self.remote_targets.load(Ordering::Relaxed) > 0
    }

    /// Returns true if any Method has a remote source.
    #[inline]
    pub fn has_remote_methods(&self) -> bool {
        self.remote_methods.load(Ordering::Relaxed) > 0
    }

    /// Returns the NodeIds of all nodes of a namespace beyond the standard's, in no particular order.
    pub fn nodes_of_namespace(&self, namespace: u16) -> Vec<NodeId> {
        let nodes = self.nodes.pin();
        let of_namespace = nodes
            .keys()
            .filter(|node_id| node_id.namespace == namespace);
        of_namespace.cloned().collect()
    }

    /// Returns the indexes of the namespaces that have nodes beyond the standard's.
    pub fn namespaces_with_nodes(&self) -> BTreeSet<u16> {
        let nodes = self.nodes.pin();
        nodes.keys().map(|node_id| node_id.namespace).collect()
    }
}
