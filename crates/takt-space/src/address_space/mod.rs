//! The address space (OPC 10000-3): nodes and references, sources of values, and changes of all of them.
//!
//! Namespace 0 is a read-only table that all processes share. Additions to it, and all other nodes, are in one hash map that is
//! read without a lock. Changes take one lock of their own, so that each is checked against the state that it changes; readers
//! never wait for it.

mod apply;
mod binding;
mod definition;
mod edit;
mod error;
mod hierarchy;
mod instantiate;
mod items;
mod links;
mod memory;
mod methods;
mod name_cache;
mod namespaces;
mod node;
mod node_builder;
mod plan;
mod plan_node;
mod reference;
mod reference_list;
mod references;
mod rules;
mod types;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use papaya::{HashMap, HashMapRef, LocalGuard};
use takt_rt::memory_budget::MemoryBudget;
use takt_ua::{DateTime, NodeId, NodeIdRef, StatusCode};

pub use apply::NewBinding;
pub use definition::{
    ClassAttributes, NodeDefinition, VariableDefinition, access_level, value_rank,
};
pub use edit::{Edit, NewReference};
pub use error::AddressSpaceError;
pub use hierarchy::TypeFilter;
pub use namespaces::{Namespaces, STANDARD_NAMESPACE};
pub use node::{Binding, BindingGuard, MethodBinding, NodeRef, VariableRef};
pub use node_builder::NodeBuilder;
pub use reference::{ReferenceView, Target, TargetRef};
pub use references::References;
pub use types::Fit;

use crate::method::MethodHandler;
use crate::namespace0::Namespace0;
use crate::value::Value;
use node::{Inner, Node};
pub(crate) use types::Expected;

/// Maximum depth of type hierarchies; longer walks are loops.
pub(crate) const MAX_TYPE_DEPTH: usize = 64;

/// Hasher with a seed per process, so that no client can choose NodeIds that collide.
type Hasher = foldhash::fast::RandomState;
type Nodes = HashMap<NodeId, Arc<Node>, Hasher>;

/// Nodes, references, and the sources of values.
#[derive(Debug)]
pub struct AddressSpace {
    nodes: Nodes,
    types: reference::ReferenceTypes,
    namespaces: Namespaces,
    /// Lock for changes of nodes and references.
    changes: Mutex<edit::Counters>,
    /// Number of nodes with a source that may block; requests are searched for such nodes only if there are any.
    remotes: AtomicUsize,
    max_nodes: usize,
    /// The memory budget for additions by clients.
    memory: MemoryBudget,
    created: DateTime,
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
            types: reference::ReferenceTypes::new(),
            namespaces: Namespaces::new(application_uri, max_namespaces),
            changes: Mutex::default(),
            remotes: AtomicUsize::new(0),
            max_nodes,
            memory,
            created: DateTime::now(),
        }
    }

    /// Returns the NamespaceArray.
    pub fn namespaces(&self) -> &Namespaces {
        &self.namespaces
    }

    /// Returns the time of creation of the address space: the source timestamp of values from the standard's table.
    pub fn created(&self) -> DateTime {
        self.created
    }

    /// Returns a view of the nodes, without a lock.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View {
            nodes: self.nodes.pin(),
            space: self,
        }
    }

    /// Begins changes of nodes and references. Waits for other changes; readers see each step when it is made.
    pub fn edit(&self) -> Edit<'_> {
        Edit::new(self, self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, edit::Counters> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the value or handler of any node may block.
    #[inline]
    pub fn has_remotes(&self) -> bool {
        self.remotes.load(Ordering::Relaxed) > 0
    }

    /// Returns the NodeIds of all nodes of a namespace beyond the standard's, in no particular order.
    pub fn nodes_of_namespace(&self, namespace: u16) -> Vec<NodeId> {
        let nodes = self.nodes.pin();
        let of_namespace = nodes
            .keys()
            .filter(|node_id| node_id.namespace == namespace);
        of_namespace.cloned().collect()
    }

    /// Sets the source of a Variable's value.
    ///
    /// # Errors
    /// There is no such node, or it is not a Variable.
    pub fn set_value(&self, node_id: &NodeId, value: Value) -> Result<(), AddressSpaceError> {
        self.edit().set_value(node_id, value)
    }

    /// Sets the handler of a Method. Its InputArguments are read now.
    ///
    /// # Errors
    /// There is no such node, or it is not a Method.
    pub fn set_method(
        &self,
        node_id: &NodeId,
        handler: MethodHandler,
    ) -> Result<(), AddressSpaceError> {
        self.edit().set_method(node_id, handler)
    }

    /// Sets the StatusCode of a Variable whose value is a cell or stored, and keeps value and source timestamp.
    ///
    /// # Errors
    /// There is no such node, or its value has another kind of source.
    pub fn set_status(
        &self,
        node_id: &NodeId,
        status: StatusCode,
    ) -> Result<(), AddressSpaceError> {
        let view = self.view();
        let node = view
            .node(node_id)
            .ok_or_else(|| AddressSpaceError::NodeIdUnknown(node_id.clone()))?;
        match node.value() {
            Some(value) => value
                .set_status(status)
                .map_err(|_| AddressSpaceError::NoBinding(node_id.clone())),
            None => Err(AddressSpaceError::NoBinding(node_id.clone())),
        }
    }
}

/// A view of the address space. Nodes that are deleted meanwhile stay in memory until it is dropped, so drop it soon.
pub struct View<'a> {
    nodes: HashMapRef<'a, NodeId, Arc<Node>, Hasher, LocalGuard<'a>>,
    space: &'a AddressSpace,
}

impl View<'_> {
    /// Returns the node with this NodeId.
    #[inline]
    pub fn node<'n>(&self, node_id: impl Into<NodeIdRef<'n>>) -> Option<NodeRef<'_>> {
        self.find(node_id.into())
    }

    /// Returns the NamespaceArray.
    pub fn namespaces(&self) -> &Namespaces {
        &self.space.namespaces
    }

    /// Returns the position among `references` of a reference that is not part of the standard.
    pub fn position(
        &self,
        references: &References,
        reference_type: &NodeId,
        is_forward: bool,
        target: &Target,
    ) -> Option<usize> {
        references.position(&reference::Reference {
            reference_type: self.space.types.find(reference_type.as_ref())?,
            is_forward,
            target: target.clone(),
        })
    }

    /// Returns the time of creation of the address space.
    pub fn created(&self) -> DateTime {
        self.space.created
    }

    /// Returns the memory budget for additions and large values of clients.
    pub fn memory(&self) -> &MemoryBudget {
        &self.space.memory
    }

    /// Returns true if any node has been added in this namespace. Searches all of them.
    pub(crate) fn has_nodes_of(&self, namespace: u16) -> bool {
        self.nodes
            .keys()
            .any(|node_id| node_id.namespace == namespace)
    }

    /// Returns the node with this NodeId, if it is in memory, as all nodes with a value of their own are.
    #[inline]
    pub fn in_memory(&self, node_id: &NodeIdRef<'_>) -> Option<NodeRef<'_>> {
        self.entry(node_id).map(|node| NodeRef {
            inner: Inner::Node(node),
            types: &self.space.types,
        })
    }

    #[inline]
    fn entry(&self, node_id: &NodeIdRef<'_>) -> Option<&Arc<Node>> {
        self.nodes
            .get(node_id)
            .or_else(|| self.in_aliased_namespace(node_id))
    }

    fn in_aliased_namespace(&self, node_id: &NodeIdRef<'_>) -> Option<&Arc<Node>> {
        // Namespace 0 is the same in all servers, and most of its nodes are not in memory.
        if node_id.namespace == 0 {
            return None;
        }
        let namespace = self.space.namespaces.resolve_alias(node_id.namespace)?;
        self.nodes.get(&NodeIdRef {
            namespace,
            ..*node_id
        })
    }

    fn find(&self, node_id: NodeIdRef<'_>) -> Option<NodeRef<'_>> {
        // Nodes in memory are searched first: they include nodes of the standard's table with additions.
        if let Some(node) = self.in_memory(&node_id) {
            return Some(node);
        }
        let standard = Namespace0::get(node_id.standard_id()?)?;
        Some(NodeRef {
            inner: Inner::Standard(standard),
            types: &self.space.types,
        })
    }
}
