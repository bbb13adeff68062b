//! All references of one node: those of the standard's table, then those that were added.

use std::sync::Arc;

use takt_ua::{NodeId, NodeIdRef};

use super::reference::{Reference, ReferenceView, TargetRef, TypeIndex, type_id};
use crate::namespace0::{StandardNode, StandardReference};

/// The references of a node as they were when asked for. Positions of the standard's references never change; added ones
/// keep their order, and move up when one before them is deleted.
#[derive(Debug, Clone)]
pub struct References {
    standard: Option<StandardNode>,
    added: Option<Arc<Vec<Reference>>>,
    types: Arc<Vec<NodeId>>,
}

impl References {
    pub(crate) fn new(
        standard: Option<StandardNode>,
        added: Option<Arc<Vec<Reference>>>,
        types: Arc<Vec<NodeId>>,
    ) -> Self {
        Self {
            standard,
            added,
            types,
        }
    }

    /// The references in order.
    pub fn iter(&self) -> impl Iterator<Item = ReferenceView<'_>> {
        self.standard_references().chain(self.added_references())
    }

    /// Those that lead away from the node, in order. A type of the standard has thousands that lead to it.
    pub(crate) fn forward(&self) -> impl Iterator<Item = ReferenceView<'_>> {
        let shorter = |reference| -> ReferenceView<'_> { standard_view(reference) };
        let standard = self.standard.into_iter();
        standard
            .flat_map(|node| node.forward_references())
            .map(shorter)
            .chain(self.added_references().filter(|added| added.is_forward))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.standard_len() + self.added().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The reference at a position.
    pub fn get(&self, position: usize) -> Option<ReferenceView<'_>> {
        match position.checked_sub(self.standard_len()) {
            Some(position) => self
                .added()
                .get(position)
                .map(|reference| self.added_view(reference)),
            None => self.standard?.reference(position).map(standard_view),
        }
    }

    fn standard_len(&self) -> usize {
        self.standard.map_or(0, |node| node.references().len())
    }

    fn added_view<'s>(&'s self, reference: &'s Reference) -> ReferenceView<'s> {
        ReferenceView {
            reference_type: self.type_id(reference.reference_type),
            is_forward: reference.is_forward,
            target: reference.target.as_ref(),
        }
    }

    fn standard_references(&self) -> impl Iterator<Item = ReferenceView<'_>> {
        // Shorter than they are: those of the table live as long as the program.
        let shorter = |reference| -> ReferenceView<'_> { standard_view(reference) };
        self.standard
            .into_iter()
            .flat_map(|node| node.references())
            .map(shorter)
    }

    fn added_references(&self) -> impl Iterator<Item = ReferenceView<'_>> {
        self.added()
            .iter()
            .map(|reference| self.added_view(reference))
    }

    fn added(&self) -> &[Reference] {
        self.added.as_deref().map(Vec::as_slice).unwrap_or_default()
    }

    fn type_id(&self, index: TypeIndex) -> NodeIdRef<'_> {
        type_id(&self.types, index)
    }

    /// The local targets of references of exactly this type and direction.
    pub fn targets<'s>(
        &'s self,
        reference_type: impl Into<NodeIdRef<'s>>,
        is_forward: bool,
    ) -> impl Iterator<Item = NodeIdRef<'s>> {
        let reference_type = reference_type.into();
        self.iter()
            .filter(move |reference| {
                reference.is_forward == is_forward && reference.reference_type == reference_type
            })
            .filter_map(|reference| reference.local_target())
    }
}

fn standard_view(reference: StandardReference) -> ReferenceView<'static> {
    ReferenceView {
        reference_type: NodeIdRef::from(reference.reference_type),
        is_forward: reference.is_forward,
        target: TargetRef::Local(NodeIdRef::from(reference.target)),
    }
}
