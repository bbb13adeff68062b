//! Views of the address space: look-up of nodes without a lock.

use std::cell::OnceCell;
use std::sync::Arc;

use papaya::{HashMapRef, LocalGuard};
use takt_rt::memory_budget::MemoryBudget;
use takt_ua::{DateTime, NodeId, NodeIdRef};

use super::attribute_writes::AttributeWrites;
use super::computed::{ComputedLists, Context, Source};
use super::kept_nodes::KeptNodes;
use super::namespaces::Namespaces;
use super::node::{Inner, Node, NodeRef};
use super::reference::{Reference, Target};
use super::references::References;
use super::space::{AddressSpace, Hasher};
use crate::namespace0::Namespace0;

impl AddressSpace {
    /// Returns a view of the nodes, without a lock.
    #[inline]
    pub fn view(&self) -> View<'_> {
        self.view_with(Some(&self.computed))
    }

    /// Returns a view without computed nodes, for changes.
    pub(super) fn stored(&self) -> View<'_> {
        self.view_with(None)
    }

    #[inline]
    fn view_with<'a>(&'a self, computed: Option<&'a Source>) -> View<'a> {
        View {
            nodes: self.nodes.pin(),
            space: self,
            context: Context {
                types: &self.types,
                computed: ComputedLists::new(computed),
            },
            kept: OnceCell::new(),
        }
    }
}

/// A view of the address space. Nodes that are deleted meanwhile stay in memory until it is dropped, so drop it soon.
pub struct View<'a> {
    pub(super) nodes: HashMapRef<'a, NodeId, Arc<Node>, Hasher, LocalGuard<'a>>,
    pub(super) space: &'a AddressSpace,
    context: Context<'a>,
    /// Nothing is allocated before the first computed node.
    kept: OnceCell<Box<KeptNodes>>,
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
        references.position(&Reference {
            reference_type: self.space.types.find(reference_type.as_ref())?,
            is_forward,
            target: target.clone(),
        })
    }

    /// Returns the time of creation of the address space.
    pub fn created(&self) -> DateTime {
        self.space.created
    }

    /// Returns the rules for Writes of attributes, if there are any.
    #[must_use]
    pub fn attribute_writes(&self) -> Option<&dyn AttributeWrites> {
        self.space.attribute_writes()
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
            context: &self.context,
        })
    }

    #[inline]
    fn entry(&self, node_id: &NodeIdRef<'_>) -> Option<&Arc<Node>> {
        // An alias never hides a node of this server.
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

    #[cold]
    fn computed(&self, node_id: NodeIdRef<'_>) -> Option<&Arc<Node>> {
        let provider = self.context.computed.provider()?;
        if let Some(known) = self.kept.get().and_then(|kept| kept.get(node_id)) {
            return Some(known);
        }
        let node = provider.node(node_id)?;
        self.kept.get_or_init(Box::default).keep(node)
    }

    fn find(&self, node_id: NodeIdRef<'_>) -> Option<NodeRef<'_>> {
        // Nodes in memory are searched first: they include nodes of the standard's table with additions.
        if let Some(node) = self.in_memory(&node_id) {
            return Some(node);
        }
        let inner = match node_id.standard_id() {
            Some(id) => Inner::Standard(Namespace0::get(id)?),
            None => Inner::Computed(self.computed(node_id)?),
        };
        Some(NodeRef {
            inner,
            context: &self.context,
        })
    }
}
