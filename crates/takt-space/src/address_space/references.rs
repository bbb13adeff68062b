//! All references of one node: those of the standard's table, then the added ones.

use std::sync::Arc;

use takt_ua::{NodeId, NodeIdRef};

use super::computed::ComputedReferences;
use super::reference::{Reference, ReferenceView, TargetRef};
use super::reference_list::ReferenceList;
use crate::namespace0::{StandardNode, StandardReference};

/// The references of a node at the time of the query. Each has a position, in ascending order; if there are many, positions of
/// deleted references stay empty.
#[derive(Debug, Clone)]
pub struct References {
    standard: Option<StandardNode>,
    added: Option<Arc<ReferenceList>>,
    computed: Option<Arc<ComputedReferences>>,
    types: Arc<Vec<NodeId>>,
}

impl References {
    pub(crate) fn new(
        standard: Option<StandardNode>,
        added: Option<Arc<ReferenceList>>,
        computed: Option<Arc<ComputedReferences>>,
        types: Arc<Vec<NodeId>>,
    ) -> Self {
        Self {
            standard,
            added,
            computed,
            types,
        }
    }

    /// Returns the references in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = ReferenceView<'_>> {
        self.standard_references()
            .chain(self.added_references())
            .chain(self.computed_references())
    }

    /// Returns the references away from the node, in order. A type of the standard has thousands of references to it.
    pub(crate) fn forward(&self) -> impl Iterator<Item = ReferenceView<'_>> {
        let shorter = |reference| -> ReferenceView<'_> { standard_view(reference) };
        let standard = self.standard.into_iter();
        standard
            .flat_map(|node| node.forward_references())
            .map(shorter)
            .chain(self.added_references().filter(|added| added.is_forward))
            .chain(self.computed_references().filter(|one| one.is_forward))
    }

    /// Returns the number of references.
    pub fn len(&self) -> usize {
        let added = self.added.as_ref().map_or(0, |added| added.len());
        let computed = self.computed.as_ref().map_or(0, |computed| computed.len());
        self.standard_len() + added + computed
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the position after the last reference.
    pub fn end(&self) -> usize {
        if let Some(computed) = &self.computed {
            return computed.end();
        }
        self.standard_len() + self.added.as_ref().map_or(0, |added| added.end())
    }

    /// Returns the first reference at this position or after it, with its own position.
    pub fn at_or_after(&self, position: usize) -> Option<(usize, ReferenceView<'_>)> {
        let standard_len = self.standard_len();
        if position < standard_len {
            let reference = self.standard?.reference(position)?;
            return Some((position, standard_view(reference)));
        }
        let added = self.added.as_ref();
        if let Some((at, reference)) = added
            .filter(|_| !ComputedReferences::has_position(position))
            .and_then(|added| added.at_or_after(position - standard_len))
        {
            return Some((standard_len + at, reference.view(&self.types)));
        }
        self.computed.as_ref()?.at_or_after(position)
    }

    /// Returns the references from a position on.
    pub(crate) fn iter_from(&self, position: usize) -> impl Iterator<Item = ReferenceView<'_>> {
        let mut next = position;
        std::iter::from_fn(move || {
            let (at, reference) = self.at_or_after(next)?;
            next = at + 1;
            Some(reference)
        })
    }

    /// Returns the position of a stored reference.
    pub(crate) fn position(&self, reference: &Reference) -> Option<usize> {
        let position = self.added.as_ref()?.position(reference)?;
        Some(self.standard_len() + position)
    }

    /// Returns true if the references after this position keep their positions when others are deleted: those of the standard are
    /// never deleted, and positions of computed ones do not depend on others.
    pub fn keeps_positions(&self, position: usize) -> bool {
        position < self.standard_len() || ComputedReferences::has_position(position)
    }

    #[inline]
    fn standard_len(&self) -> usize {
        self.standard.map_or(0, |node| node.references().len())
    }

    #[inline]
    fn standard_references(&self) -> impl Iterator<Item = ReferenceView<'_>> {
        // The closure shortens the lifetime: references of the table live as long as the program.
        let shorter = |reference| -> ReferenceView<'_> { standard_view(reference) };
        self.standard
            .into_iter()
            .flat_map(|node| node.references())
            .map(shorter)
    }

    #[inline]
    fn computed_references(&self) -> impl Iterator<Item = ReferenceView<'_>> {
        self.computed.iter().flat_map(|computed| computed.iter())
    }

    #[inline]
    fn added_references(&self) -> impl Iterator<Item = ReferenceView<'_>> {
        self.added
            .iter()
            .flat_map(|added| added.iter_from(0))
            .map(|reference| reference.view(&self.types))
    }

    /// Returns the local targets of references of exactly this type and direction.
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
