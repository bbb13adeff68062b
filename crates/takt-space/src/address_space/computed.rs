//! Nodes that are computed when somebody looks at them, such as the diagnostics of a Session. They take no memory otherwise.
//!
//! A view keeps the nodes that it has computed until it is dropped. Changes of the address space do not see them.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use takt_ua::{NodeId, NodeIdRef};

use super::definition::NodeDefinition;
use super::reference::{ReferenceTypes, ReferenceView, TargetRef};
use crate::value::Value;

/// Source of computed nodes. It is asked while Subscriptions are sampled, so it must not wait.
pub trait ComputedNodes: Send + Sync {
    /// Returns true if the node of the standard with this number has references to computed nodes.
    fn has_references(&self, standard: u32) -> bool;

    /// Returns the node with this NodeId, which is not in namespace 0; `None` if there is none now.
    fn node(&self, node_id: NodeIdRef<'_>) -> Option<ComputedNode>;

    /// Returns the references of a computed node, or those of a node of the standard to computed nodes.
    fn references(&self, node_id: NodeIdRef<'_>) -> Vec<ComputedReference>;
}

impl std::fmt::Debug for dyn ComputedNodes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ComputedNodes")
            .finish_non_exhaustive()
    }
}

/// A node that is computed.
pub struct ComputedNode {
    /// Its attributes.
    pub definition: NodeDefinition,
    /// Source of its value, if it is a Variable.
    pub value: Option<Value>,
}

/// A reference that is computed. Its ReferenceType is one of the standard.
#[derive(Debug, Clone, PartialEq)]
pub struct ComputedReference {
    /// Order among the references of the node. It stays the same as long as the reference exists.
    pub key: u64,
    /// Number of the ReferenceType.
    pub reference_type: u32,
    /// True if the node is the source, false if it is the target.
    pub is_forward: bool,
    /// The node at the other end.
    pub target: NodeId,
}

/// Position of a computed reference with the key 0: behind all others.
const FIRST: usize = 1 << 32;

/// The computed references of a node, in the order of their keys.
#[derive(Debug)]
pub(crate) struct ComputedReferences(Vec<ComputedReference>);

impl ComputedReferences {
    fn of(provider: &dyn ComputedNodes, node_id: NodeIdRef<'_>) -> Option<Arc<Self>> {
        let mut references = provider.references(node_id);
        references.sort_by_key(|reference| reference.key);
        (!references.is_empty()).then(|| Arc::new(Self(references)))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if a reference at this position is a computed one.
    pub(crate) fn has_position(position: usize) -> bool {
        position >= FIRST
    }

    /// Returns the position after the last reference.
    pub(crate) fn end(&self) -> usize {
        self.0.last().map_or(0, |last| position_of(last) + 1)
    }

    /// Returns the first reference at this position or after it, with its own position.
    pub(crate) fn at_or_after(&self, position: usize) -> Option<(usize, ReferenceView<'_>)> {
        let index = self
            .0
            .partition_point(|reference| position_of(reference) < position);
        let reference = self.0.get(index)?;
        Some((position_of(reference), view(reference)))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = ReferenceView<'_>> {
        self.0.iter().map(view)
    }
}

fn position_of(reference: &ComputedReference) -> usize {
    FIRST + usize::try_from(reference.key).unwrap_or_default()
}

fn view(reference: &ComputedReference) -> ReferenceView<'_> {
    ReferenceView {
        reference_type: NodeIdRef::from(reference.reference_type),
        is_forward: reference.is_forward,
        target: TargetRef::Local(reference.target.as_ref()),
    }
}

/// Parts of a view that its nodes use.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) types: &'a ReferenceTypes,
    pub(crate) computed: ComputedLists<'a>,
}

/// Source of computed nodes of an address space; it may be set later.
pub(crate) type Source = OnceLock<Arc<dyn ComputedNodes>>;

/// Lists of references by the number of the standard's node.
type Lists = RefCell<BTreeMap<u32, Option<Arc<ComputedReferences>>>>;

/// The computed references of one view.
///
/// Each request makes a view and drops it, and few of them see a computed node. So making one stores two words, and dropping it
/// compares one: the source is not asked, and nothing is allocated, before they are needed.
pub(crate) struct ComputedLists<'a> {
    /// `None` for changes, which see no computed nodes.
    source: Option<&'a Source>,
    /// References of nodes of the standard: one view lists all Sessions once.
    of_standard: OnceCell<Box<Lists>>,
}

impl std::fmt::Debug for ComputedLists<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ComputedLists")
            .finish_non_exhaustive()
    }
}

impl<'a> ComputedLists<'a> {
    #[inline]
    pub(crate) fn new(source: Option<&'a Source>) -> Self {
        Self {
            source,
            of_standard: OnceCell::new(),
        }
    }

    /// Returns the source of computed nodes, if there is one.
    pub(super) fn provider(&self) -> Option<&'a dyn ComputedNodes> {
        self.source?.get().map(|nodes| &**nodes)
    }

    /// Returns the references of a computed node.
    #[cold]
    pub(crate) fn references(&self, node_id: NodeIdRef<'_>) -> Option<Arc<ComputedReferences>> {
        ComputedReferences::of(self.provider()?, node_id)
    }

    /// Returns the computed references of a node of the standard.
    pub(crate) fn of_standard(&self, id: u32) -> Option<Arc<ComputedReferences>> {
        let provider = self.provider()?;
        match provider.has_references(id) {
            true => self.list(provider, id),
            false => None,
        }
    }

    #[cold]
    fn list(&self, provider: &dyn ComputedNodes, id: u32) -> Option<Arc<ComputedReferences>> {
        let lists = self.of_standard.get_or_init(Box::default);
        if let Some(known) = lists.borrow().get(&id) {
            return known.clone();
        }
        let list = ComputedReferences::of(provider, NodeIdRef::from(id));
        lists.borrow_mut().insert(id, list.clone());
        list
    }
}

#[cfg(test)]
mod tests {
    use takt_rt::memory_budget::MemoryBudget;
    use takt_ua::{QualifiedName, ids};

    use super::*;
    use crate::{AddressSpace, ClassAttributes};

    /// Objects with the numbers of a list, below the Server Object.
    struct Numbers(std::sync::Mutex<Vec<u32>>);

    impl ComputedNodes for Numbers {
        fn has_references(&self, standard: u32) -> bool {
            standard == ids::SERVER
        }

        fn node(&self, node_id: NodeIdRef<'_>) -> Option<ComputedNode> {
            let numbers = self.0.lock().unwrap();
            let number = *numbers
                .iter()
                .find(|number| NodeId::numeric(1, **number).as_ref() == node_id)?;
            let name = QualifiedName::new(1, number.to_string().as_str());
            let class = ClassAttributes::Object { event_notifier: 0 };
            Some(ComputedNode {
                definition: NodeDefinition::new(NodeId::numeric(1, number), name, class),
                value: None,
            })
        }

        fn references(&self, node_id: NodeIdRef<'_>) -> Vec<ComputedReference> {
            let reference = |key, is_forward, target| ComputedReference {
                key,
                reference_type: ids::HAS_COMPONENT,
                is_forward,
                target,
            };
            if node_id != NodeId::from(ids::SERVER) {
                return vec![reference(0, false, ids::SERVER.into())];
            }
            let numbers = self.0.lock().unwrap();
            let all = numbers.iter();
            all.map(|number| reference(u64::from(*number), true, NodeId::numeric(1, *number)))
                .collect()
        }
    }

    fn space(numbers: Vec<u32>) -> (AddressSpace, Arc<Numbers>) {
        let space = AddressSpace::new("urn:test", 10, 10, MemoryBudget::new(1 << 20));
        let numbers = Arc::new(Numbers(numbers.into()));
        space.set_computed(Arc::clone(&numbers) as Arc<dyn ComputedNodes>);
        (space, numbers)
    }

    #[test]
    fn nodes_stay_where_they_are_while_a_view_computes_others() {
        let (space, _) = space((1..=1000).collect());
        let view = space.view();
        let nodes: Vec<_> = (1..=1000)
            .map(|number| view.node(&NodeId::numeric(1, number)).unwrap())
            .collect();
        for (number, node) in (1..).zip(&nodes) {
            assert_eq!(node.node_id(), NodeId::numeric(1, number));
            assert_eq!(node.browse_name().name, Some(number.to_string().as_str()));
        }
        assert!(view.node(&NodeId::numeric(1, 1001)).is_none());
        let references = nodes[6].references();
        let targets = references.targets(ids::HAS_COMPONENT, false);
        assert_eq!(targets.collect::<Vec<_>>(), [NodeIdRef::from(ids::SERVER)]);
    }

    #[test]
    fn a_position_stays_the_same_when_nodes_before_it_are_gone() {
        let (space, numbers) = space(vec![9, 3, 70, 12]);
        let targets = |from: usize| -> Vec<(usize, u32)> {
            let view = space.view();
            let references = view.node(ids::SERVER).unwrap().references();
            let mut next = from;
            let all = std::iter::from_fn(|| {
                let (at, reference) = references.at_or_after(next)?;
                next = at + 1;
                Some((at, reference.local_target()?.to_owned()))
            });
            let numbers = [3, 9, 12, 70].map(|number| (NodeId::numeric(1, number), number));
            let number = |target| numbers.iter().find(|(id, _)| *id == target);
            all.filter_map(|(at, target)| Some((at, number(target)?.1)))
                .collect()
        };
        let all = targets(0);
        let numbers_of =
            |all: &[(usize, u32)]| -> Vec<u32> { all.iter().map(|(_, number)| *number).collect() };
        assert_eq!(numbers_of(&all), [3, 9, 12, 70]);
        numbers.0.lock().unwrap().retain(|number| *number > 9);
        assert_eq!(numbers_of(&targets(all[1].0 + 1)), [12, 70]);
        let view = space.view();
        let references = view.node(ids::SERVER).unwrap().references();
        assert_eq!(references.end(), all[3].0 + 1);
        assert!(references.keeps_positions(all[3].0));
    }

    #[test]
    fn changes_do_not_see_computed_nodes() {
        let (space, _) = space(vec![5]);
        let id = NodeId::numeric(1, 5);
        let mut edit = space.edit();
        assert!(edit.view().node(&id).is_none());
        assert!(edit.delete_node(&id, true).is_err());
        let name = QualifiedName::new(1, "other");
        let class = ClassAttributes::Object { event_notifier: 0 };
        let other = NodeDefinition::new(id, name, class);
        assert!(edit.add_node(other, &[]).is_err(), "the NodeId is in use");
        assert_ne!(edit.free_node_id(1), NodeId::numeric(1, 5));
    }
}
