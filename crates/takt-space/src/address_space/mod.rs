//! The address space (OPC 10000-3): nodes and references, where values come from, and how all of that changes.
//!
//! Namespace 0 is a read-only table that all processes share; what is added to it, and everything else, is in one hash
//! map that is read without a lock. Changes go through one lock of their own, so that each is checked against what it
//! changes; readers never wait for it.

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

/// Deeper type hierarchies do not exist; longer walks are loops.
pub(crate) const MAX_TYPE_DEPTH: usize = 64;

/// Seeded per process, so that no client can choose NodeIds that collide.
type Hasher = foldhash::fast::RandomState;
type Nodes = HashMap<NodeId, Arc<Node>, Hasher>;

/// Nodes, references, and where values come from.
#[derive(Debug)]
pub struct AddressSpace {
    nodes: Nodes,
    types: reference::ReferenceTypes,
    namespaces: Namespaces,
    /// Held by whoever changes nodes or references.
    changes: Mutex<edit::Counters>,
    /// How many nodes have a source that may block; requests are searched for them only while there are any.
    remotes: AtomicUsize,
    max_nodes: usize,
    /// The memory for what clients add.
    memory: MemoryBudget,
    created: DateTime,
}

impl AddressSpace {
    /// An address space with the nodes of namespace 0 and no others.
    ///
    /// The ApplicationUri is namespace 1 (OPC 10000-5, 6.3.1). `max_namespaces` limits the NamespaceArray, `max_nodes` the nodes
    /// that are added, and `memory` the bytes of those that clients add and of large values that they write.
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

    /// The NamespaceArray.
    pub fn namespaces(&self) -> &Namespaces {
        &self.namespaces
    }

    /// The time at which the address space was created: the source timestamp of values that the standard gives.
    pub fn created(&self) -> DateTime {
        self.created
    }

    /// Looks at nodes, without a lock.
    #[inline]
    pub fn view(&self) -> View<'_> {
        View {
            nodes: self.nodes.pin(),
            space: self,
        }
    }

    /// Changes nodes and references. Waits for other changes; readers see each step as it is made.
    pub fn edit(&self) -> Edit<'_> {
        Edit::new(self, self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, edit::Counters> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any node's value or handler may block.
    #[inline]
    pub fn has_remotes(&self) -> bool {
        self.remotes.load(Ordering::Relaxed) > 0
    }

    /// The NodeIds of all nodes of a namespace beyond the standard's, in no order.
    pub fn nodes_of_namespace(&self, namespace: u16) -> Vec<NodeId> {
        let nodes = self.nodes.pin();
        let of_namespace = nodes
            .keys()
            .filter(|node_id| node_id.namespace == namespace);
        of_namespace.cloned().collect()
    }

    /// Sets where a Variable's value comes from.
    ///
    /// # Errors
    /// There is no such node, or it is no Variable.
    pub fn set_value(&self, node_id: &NodeId, value: Value) -> Result<(), AddressSpaceError> {
        self.edit().set_value(node_id, value)
    }

    /// Sets what runs when a Method is called. Its InputArguments are read now.
    ///
    /// # Errors
    /// There is no such node, or it is no Method.
    pub fn set_method(
        &self,
        node_id: &NodeId,
        handler: MethodHandler,
    ) -> Result<(), AddressSpaceError> {
        self.edit().set_method(node_id, handler)
    }

    /// Sets the StatusCode of a Variable whose value is a cell or stored, and leaves value and source timestamp.
    ///
    /// # Errors
    /// There is no such node, or its value comes from elsewhere.
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

/// A look at the address space. Nodes that are deleted meanwhile stay until it is dropped, so drop it soon.
pub struct View<'a> {
    nodes: HashMapRef<'a, NodeId, Arc<Node>, Hasher, LocalGuard<'a>>,
    space: &'a AddressSpace,
}

impl View<'_> {
    /// The node with this NodeId.
    #[inline]
    pub fn node<'n>(&self, node_id: impl Into<NodeIdRef<'n>>) -> Option<NodeRef<'_>> {
        self.find(node_id.into())
    }

    /// The NamespaceArray.
    pub fn namespaces(&self) -> &Namespaces {
        &self.space.namespaces
    }

    /// The position among `references` of one that is not of the standard.
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

    /// The time at which the address space was created.
    pub fn created(&self) -> DateTime {
        self.space.created
    }

    /// The memory for what clients add and write.
    pub fn memory(&self) -> &MemoryBudget {
        &self.space.memory
    }

    /// Whether any node has been added in this namespace. Looks at all of them.
    pub(crate) fn has_nodes_of(&self, namespace: u16) -> bool {
        self.nodes
            .keys()
            .any(|node_id| node_id.namespace == namespace)
    }

    /// The node with this NodeId, if it is one in memory: all that have a value of their own are.
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
        // Namespace 0 is the same everywhere, and most of its nodes are not in memory.
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
        // These first: they include those of the standard's table to which something was added.
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
