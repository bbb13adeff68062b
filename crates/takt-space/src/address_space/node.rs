//! Nodes: those of this server, those of the standard's table, and those of the table with additions.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use arc_swap::{ArcSwapOption, Guard};
use takt_ua::enumerations::NodeClass;
use takt_ua::structures::Argument;
use takt_ua::{LocalizedTextRef, NodeId, NodeIdRef, QualifiedNameRef};

use super::computed::Context;
use super::counted::Counted;
use super::definition::{ClassAttributes, NodeDefinition, VariableDefinition};
use super::reference::{Reference, type_id};
use super::reference_list::ReferenceList;
use super::references::References;
use crate::access_level;
use crate::method::MethodHandler;
use crate::namespace0::{self, StandardNode};
use crate::node_access::NodeAccess;
use crate::value::Value;

/// A node in memory: an added node, or one of the standard's table that got references or a value.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) base: Base,
    /// References of the node. Readers clone the `Arc` and release the lock; a writer copies the list only while a reader uses
    /// it.
    references: RwLock<Arc<ReferenceList>>,
    binding: ArcSwapOption<Binding>,
    /// AccessLevelEx of a Variable, without CurrentRead if the node has permissions of its own; `None` for other NodeClasses. It is
    /// for the hot path, which so leaves nodes with own permissions to the general path.
    pub(crate) access_level: Option<u32>,
    /// Cached result of [`Expected`](super::types::Expected) for the DataType; 0: not known yet.
    pub(crate) expected: AtomicU8,
    /// True if this server keeps the history of the Variable, or of the Events of the Object.
    pub(super) is_historized: AtomicBool,
    /// True if AddNodes of another node added it, because the type of that node requires it. The client may add such a node itself
    /// afterwards.
    pub(super) is_instantiated: AtomicBool,
    /// Memory that it counts in the budget, if a change added it.
    pub(super) counted: Option<Box<Counted>>,
}

/// Location of a node's attributes.
#[derive(Debug)]
pub(crate) enum Base {
    Standard(StandardNode),
    Added(Box<NodeDefinition>),
}

/// Value source of a Variable, or handler of a Method.
#[derive(Debug)]
pub enum Binding {
    /// Value source of a Variable.
    Value(Value),
    /// Handler of a Method.
    Method(MethodBinding),
}

/// A Method's handler, and its arguments as of the binding.
#[derive(Debug)]
pub struct MethodBinding {
    /// The handler.
    pub handler: MethodHandler,
    /// InputArguments.
    pub inputs: Vec<Argument>,
}

impl Binding {
    /// Returns true if its use is answered later.
    pub(crate) fn is_remote(&self) -> bool {
        match self {
            Self::Value(value) => value.write_target().is_some(),
            Self::Method(method) => matches!(method.handler, MethodHandler::Remote(_)),
        }
    }
}

/// The [`Binding`] of a node, kept while it is used.
#[derive(Debug)]
pub struct BindingGuard(Guard<Option<Arc<Binding>>>);

impl BindingGuard {
    /// Returns the binding; `None` if the node has none.
    #[inline]
    #[must_use]
    pub fn get(&self) -> Option<&Binding> {
        self.0.as_deref()
    }
}

/// Returns the AccessLevelEx of a standard Variable. Clients write none of them: the bits of the NodeSet for writing (EnabledFlag,
/// ApplicationsExclude and EndpointsExclude) say what a server may offer.
#[inline]
fn read_only(node: StandardNode) -> u32 {
    u32::from(node.access_level()) & !access_level::WRITE
}

/// Returns the AccessLevelEx of a standard Variable, without CurrentRead if it has access of its own.
fn standard_access_level(node: StandardNode) -> u32 {
    let level = read_only(node);
    match namespace0::access::of(node.id()) {
        Some(_) => level & !access_level::CURRENT_READ,
        None => level,
    }
}

impl Node {
    pub(crate) fn new(base: Base) -> Self {
        let access_level = match &base {
            Base::Standard(node) if node.node_class() == NodeClass::Variable => {
                Some(standard_access_level(*node))
            }
            Base::Standard(_) => None,
            Base::Added(definition) => match &definition.attributes {
                ClassAttributes::Variable(variable) if definition.access.is_some() => {
                    Some(variable.access_level & !access_level::CURRENT_READ)
                }
                ClassAttributes::Variable(variable) => Some(variable.access_level),
                _ => None,
            },
        };
        Self {
            base,
            access_level,
            references: RwLock::default(),
            binding: ArcSwapOption::empty(),
            expected: AtomicU8::new(0),
            is_historized: AtomicBool::new(false),
            is_instantiated: AtomicBool::new(false),
            counted: None,
        }
    }

    /// Returns the same node with another definition, without the memory that it counts.
    pub(super) fn redefined(&self, definition: Box<NodeDefinition>) -> Self {
        let mut node = Self::new(Base::Added(definition));
        node.references = RwLock::new(self.references());
        node.binding = ArcSwapOption::new(self.binding.load_full());
        node.is_historized = AtomicBool::new(self.is_historized.load(Ordering::Relaxed));
        node
    }

    pub(crate) fn references(&self) -> Arc<ReferenceList> {
        Arc::clone(
            &self
                .references
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Changes the references. The caller holds the address space's lock for changes.
    pub(crate) fn change_references<R>(&self, change: impl FnOnce(&mut ReferenceList) -> R) -> R {
        let mut references = self
            .references
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut references))
    }

    /// Appends a reference. If one end may exist without the other, it is appended only if it is missing.
    pub(super) fn push_new(&self, reference: &Reference, may_exist: bool) {
        self.change_references(|references| {
            if !may_exist || references.position(reference).is_none() {
                references.push(reference.clone());
            }
        });
    }

    /// Returns the number of references of the standard that the node has.
    pub(crate) fn standard_references(&self) -> usize {
        match self.base {
            Base::Standard(node) => node.references().len(),
            Base::Added(_) => 0,
        }
    }

    /// Returns true if the reference exists, among the added ones or those of the standard.
    pub(crate) fn has(&self, reference: &Reference, types: &[NodeId]) -> bool {
        if self.references().position(reference).is_some() {
            return true;
        }
        let Base::Standard(node) = self.base else {
            return false;
        };
        let (Some(reference_type), Some(target)) = (
            type_id(types, reference.reference_type).standard_id(),
            reference.target.node_id().standard_id(),
        ) else {
            return false;
        };
        node.references().any(|known| {
            known.reference_type == reference_type
                && known.is_forward == reference.is_forward
                && known.target == target
        })
    }

    pub(crate) fn binding(&self) -> Guard<Option<Arc<Binding>>> {
        self.binding.load()
    }

    /// Returns true if the value is stored in this address space, and not a copy. It is apart, because few nodes are asked.
    #[cold]
    fn keeps_its_value(&self) -> bool {
        match self.binding().as_deref() {
            Some(Binding::Value(Value::Stored(stored))) => stored.origin().is_none(),
            _ => false,
        }
    }

    pub(crate) fn bind(&self, binding: Option<Binding>) -> Option<Arc<Binding>> {
        self.expected.store(0, Ordering::Relaxed);
        self.binding.swap(binding.map(Arc::new))
    }
}

/// A node that is valid as long as its [`View`](super::View).
#[derive(Debug, Clone, Copy)]
pub struct NodeRef<'v> {
    pub(crate) inner: Inner<'v>,
    pub(crate) context: &'v Context<'v>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Inner<'v> {
    Standard(StandardNode),
    Node(&'v Arc<Node>),
    /// A node that the view has computed.
    Computed(&'v Arc<Node>),
}

/// Attributes that determine the permitted values of a Variable.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VariableRef<'v> {
    /// DataType.
    pub data_type: NodeIdRef<'v>,
    /// ValueRank.
    pub value_rank: i32,
    /// ArrayDimensions; empty: the attribute does not exist.
    pub array_dimensions: &'v [u32],
    /// AccessLevelEx; its low byte is AccessLevel.
    pub access_level: u32,
}

impl<'v> From<&'v VariableDefinition> for VariableRef<'v> {
    fn from(variable: &'v VariableDefinition) -> Self {
        Self {
            data_type: variable.data_type.as_ref(),
            value_rank: variable.value_rank,
            array_dimensions: &variable.array_dimensions,
            access_level: variable.access_level,
        }
    }
}

/// Attributes of one node, in memory or in the table.
enum AttributesRef<'v> {
    Standard(StandardNode),
    Added(&'v NodeDefinition),
}

impl<'v> NodeRef<'v> {
    fn attributes(&self) -> AttributesRef<'v> {
        match self.inner {
            Inner::Standard(node) => AttributesRef::Standard(node),
            Inner::Node(node) | Inner::Computed(node) => match &node.base {
                Base::Standard(node) => AttributesRef::Standard(*node),
                Base::Added(definition) => AttributesRef::Added(definition),
            },
        }
    }

    /// Returns the entry of the standard's table, if the node is one of the standard.
    pub fn standard(&self) -> Option<StandardNode> {
        match self.attributes() {
            AttributesRef::Standard(node) => Some(node),
            AttributesRef::Added(_) => None,
        }
    }

    /// Returns the definition, if the node was added.
    pub fn definition(&self) -> Option<&'v NodeDefinition> {
        match self.attributes() {
            AttributesRef::Standard(_) => None,
            AttributesRef::Added(definition) => Some(definition),
        }
    }

    /// Returns the NodeId.
    pub fn node_id(&self) -> NodeIdRef<'v> {
        match self.attributes() {
            AttributesRef::Standard(node) => NodeIdRef::from(node.id()),
            AttributesRef::Added(definition) => definition.node_id.as_ref(),
        }
    }

    /// Returns the NodeClass.
    pub fn node_class(&self) -> NodeClass {
        match self.attributes() {
            AttributesRef::Standard(node) => node.node_class(),
            AttributesRef::Added(definition) => definition.node_class(),
        }
    }

    /// Returns the BrowseName.
    pub fn browse_name(&self) -> QualifiedNameRef<'v> {
        match self.attributes() {
            AttributesRef::Standard(node) => QualifiedNameRef {
                namespace: 0,
                name: Some(node.browse_name()),
            },
            AttributesRef::Added(definition) => definition.browse_name.as_ref(),
        }
    }

    /// Returns the DisplayName.
    pub fn display_name(&self) -> LocalizedTextRef<'v> {
        match self.attributes() {
            AttributesRef::Standard(node) => LocalizedTextRef {
                locale: None,
                text: Some(node.display_name()),
            },
            AttributesRef::Added(definition) => match &definition.display_name {
                Some(name) => name.as_ref().as_ref(),
                None => LocalizedTextRef {
                    locale: None,
                    text: definition.browse_name.name.as_option(),
                },
            },
        }
    }

    /// Returns the attributes that determine the values of a Variable; `None` for other NodeClasses.
    #[inline]
    pub fn variable(&self) -> Option<VariableRef<'v>> {
        match self.attributes() {
            AttributesRef::Standard(node) => {
                (node.node_class() == NodeClass::Variable).then(|| VariableRef {
                    data_type: NodeIdRef::from(node.data_type()),
                    value_rank: node.value_rank(),
                    array_dimensions: node.array_dimensions(),
                    access_level: read_only(node),
                })
            }
            AttributesRef::Added(definition) => match &definition.attributes {
                ClassAttributes::Variable(variable) => {
                    let mut variable = VariableRef::from(variable);
                    if self.is_historized() {
                        variable.access_level |= access_level::HISTORY_READ;
                    }
                    if self.is_kept_for_client(variable.access_level) {
                        variable.access_level |= access_level::WRITE;
                    }
                    Some(variable)
                }
                _ => None,
            },
        }
    }

    /// Returns true for a writable Variable that a client has added, and whose value is stored here: its StatusCode and source
    /// timestamp are, too, which the client need not know.
    #[inline]
    fn is_kept_for_client(&self, level: u32) -> bool {
        let Inner::Node(node) = self.inner else {
            return false;
        };
        level & access_level::WRITE != access_level::WRITE
            && level & access_level::CURRENT_WRITE != 0
            && node.counted.is_some()
            && node.keeps_its_value()
    }

    /// Returns true if this server keeps the history of a Variable, or of the Events of an Object: see [`AddressSpace::set_historized`](super::AddressSpace::set_historized).
    #[inline]
    pub fn is_historized(&self) -> bool {
        match self.inner {
            Inner::Node(node) | Inner::Computed(node) => node.is_historized.load(Ordering::Relaxed),
            Inner::Standard(_) => false,
        }
    }

    /// Returns true for a node that a [`Change`](crate::Change) has added, and not the application itself or a NodeSet.
    pub fn is_added_by_change(&self) -> bool {
        match self.inner {
            Inner::Node(node) => node.counted.is_some(),
            Inner::Standard(_) | Inner::Computed(_) => false,
        }
    }

    /// Returns true if the node was added only because the type of its parent requires it.
    pub(super) fn is_instantiated(&self) -> bool {
        match self.inner {
            Inner::Node(node) => node.is_instantiated.load(Ordering::Relaxed),
            Inner::Standard(_) | Inner::Computed(_) => false,
        }
    }

    /// Returns RolePermissions and AccessRestrictions; `None`: the Roles have their default permissions.
    #[inline]
    pub fn access(&self) -> Option<&'v NodeAccess> {
        match self.inner {
            Inner::Node(node) | Inner::Computed(node) => match &node.base {
                Base::Added(definition) => definition.access.as_deref(),
                Base::Standard(node) => namespace0::access::of(node.id()),
            },
            Inner::Standard(node) => namespace0::access::of(node.id()),
        }
    }

    /// Returns the AccessLevelEx of a Variable, without CurrentRead if it has [`access`](Self::access) of its own; `None` for other
    /// NodeClasses.
    #[inline]
    pub fn access_level(&self) -> Option<u32> {
        match self.inner {
            Inner::Node(node) | Inner::Computed(node) => node.access_level,
            Inner::Standard(node) => {
                (node.node_class() == NodeClass::Variable).then(|| standard_access_level(node))
            }
        }
    }

    /// Returns DataType, ValueRank and ArrayDimensions of a Variable or VariableType; the latter has no access level.
    pub fn typed(&self) -> Option<VariableRef<'v>> {
        if let Some(variable) = self.variable() {
            return Some(variable);
        }
        match self.attributes() {
            AttributesRef::Standard(node) => {
                (node.node_class() == NodeClass::VariableType).then(|| VariableRef {
                    data_type: NodeIdRef::from(node.data_type()),
                    value_rank: node.value_rank(),
                    array_dimensions: node.array_dimensions(),
                    access_level: 0,
                })
            }
            AttributesRef::Added(definition) => match &definition.attributes {
                ClassAttributes::VariableType {
                    data_type,
                    value_rank,
                    array_dimensions,
                    ..
                } => Some(VariableRef {
                    data_type: data_type.as_ref(),
                    value_rank: *value_rank,
                    array_dimensions,
                    access_level: 0,
                }),
                _ => None,
            },
        }
    }

    /// Returns true if IsAbstract exists and is true.
    pub fn is_abstract(&self) -> bool {
        match self.attributes() {
            AttributesRef::Standard(node) => node.is_abstract(),
            AttributesRef::Added(definition) => definition.attributes.is_abstract(),
        }
    }

    /// Returns the current references of this node.
    pub fn references(&self) -> References {
        // The references are read first: every index in them is valid in a snapshot of the types that is taken later.
        let (standard, added) = match self.inner {
            Inner::Standard(node) => (Some(node), None),
            Inner::Node(node) => (self.standard(), Some(node.references())),
            Inner::Computed(_) => (None, None),
        };
        let computed = &self.context.computed;
        let computed = match (self.inner, standard) {
            (Inner::Computed(_), _) => computed.references(self.node_id()),
            (_, Some(standard)) => computed.of_standard(standard.id()),
            _ => None,
        };
        References::new(standard, added, computed, self.context.types.snapshot())
    }

    /// Returns the value source, if one is set.
    pub fn value(&self) -> Option<Value> {
        match self.inner {
            Inner::Standard(_) => None,
            Inner::Node(node) | Inner::Computed(node) => match node.binding().as_deref() {
                Some(Binding::Value(value)) => Some(value.clone()),
                _ => None,
            },
        }
    }

    /// Returns the value source or Method handler, if one is set.
    #[inline]
    pub fn binding(&self) -> BindingGuard {
        BindingGuard(match self.inner {
            Inner::Standard(_) => Guard::from_inner(None),
            Inner::Node(node) | Inner::Computed(node) => node.binding(),
        })
    }

    /// Returns true if a value source (of a Variable) or a handler (of a Method) is set.
    pub fn is_bound(&self) -> bool {
        match self.inner {
            Inner::Standard(_) => false,
            Inner::Node(node) | Inner::Computed(node) => node.binding().is_some(),
        }
    }
}
