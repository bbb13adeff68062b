//! Iteration over the references of a node that a Browse selects, and their descriptions (OPC 10000-4, 7.29).

use takt_space::{Caller, NodeRef, ReferenceView, References, TargetRef, TypeFilter, View};
use takt_ua::binary::{Encode, EncodeError, Encoder};
use takt_ua::enumerations::{BrowseDirection, BrowseResultMask, NodeClass};
use takt_ua::{ExpandedNodeIdRef, LocalizedTextRef, NodeId, NodeIdRef, QualifiedNameRef};

use crate::identity::access;
use crate::session::continuation::{Cursor, LastSeen, Selection};
use crate::slices::work::Work;

impl From<&ReferenceView<'_>> for LastSeen {
    fn from(reference: &ReferenceView<'_>) -> Self {
        Self {
            reference_type: reference.reference_type.to_owned(),
            is_forward: reference.is_forward,
            target: reference.target.to_owned(),
        }
    }
}

/// Returns the position from which a cursor continues. References before it may have been deleted, which moves it towards the
/// front; `None` if the last reference that the client received is deleted itself.
pub(super) fn resume(view: &View<'_>, references: &References, cursor: &Cursor) -> Option<usize> {
    let Some(last) = &cursor.last else {
        return Some(cursor.position);
    };
    let before = cursor.position.checked_sub(1)?;
    if references.keeps_positions(before) {
        return Some(cursor.position);
    }
    let (reference_type, target) = (&last.reference_type, &last.target);
    let position = view.position(references, reference_type, last.is_forward, target)?;
    // A reference that was deleted and added again is behind all others.
    (position <= before).then_some(position + 1)
}

/// The selected references of a node, from a position on.
pub(super) struct Walk<'w> {
    view: &'w View<'w>,
    caller: &'w Caller,
    references: &'w References,
    selection: &'w Selection,
    types: TypeFilter,
    /// Position of the next reference to visit.
    pub(super) position: usize,
}

impl<'w> Walk<'w> {
    pub(super) fn new(
        view: &'w View<'w>,
        caller: &'w Caller,
        references: &'w References,
        cursor: &'w Cursor,
        position: usize,
    ) -> Self {
        let selection = &cursor.selection;
        Self {
            view,
            caller,
            references,
            selection,
            types: TypeFilter::new(
                selection.reference_type.as_ref(),
                selection.include_subtypes,
            ),
            position,
        }
    }

    /// Visits one more reference: `None` if there is none, `Some(None)` if the client does not want it.
    pub(super) fn next(&mut self, work: &mut Work) -> Option<Option<Found<'w>>> {
        let (at, reference) = self.references.at_or_after(self.position)?;
        work.spend(1);
        self.position = at + 1;
        Some(self.wanted(reference))
    }

    fn wanted(&mut self, reference: ReferenceView<'w>) -> Option<Found<'w>> {
        let direction = match self.selection.direction {
            BrowseDirection::Forward => reference.is_forward,
            BrowseDirection::Inverse => !reference.is_forward,
            _ => true,
        };
        if !direction || !self.types.matches(self.view, reference.reference_type) {
            return None;
        }
        let node = match reference.target {
            // A reference to a node that does not exist is left out.
            TargetRef::Local(target) => Some(self.view.node(target)?),
            TargetRef::Remote(_) => None,
        };
        // A node that the caller may not see is left out as well (OPC 10000-3, 8.55).
        if node.is_some_and(|node| access::check_browse(self.caller, &node).is_err()) {
            return None;
        }
        let classes = self.selection.node_classes;
        // The NodeClass of a remote node is not known, so the filter ignores it.
        let class = node
            .is_none_or(|node| classes == 0 || classes & node.node_class().0.cast_unsigned() != 0);
        class.then_some(Found { reference, node })
    }
}

/// A selected reference.
pub(super) struct Found<'w> {
    reference: ReferenceView<'w>,
    node: Option<NodeRef<'w>>,
}

impl Found<'_> {
    /// Encodes a ReferenceDescription (OPC 10000-4, 7.29); fields that the ResultMask leaves out are null.
    pub(super) fn encode(
        &self,
        view: &View<'_>,
        mask: u32,
        response: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        let wants = |field: BrowseResultMask| mask & field.0.cast_unsigned() != 0;
        let reference = &self.reference;
        if wants(BrowseResultMask::ReferenceTypeId) {
            reference.reference_type
        } else {
            NodeIdRef::NULL
        }
        .encode(response)?;
        response.bool(reference.is_forward && wants(BrowseResultMask::IsForward))?;
        match reference.target {
            TargetRef::Local(target) => expanded(target).encode(response)?,
            TargetRef::Remote(target) => target.encode(response)?,
        }
        let node = self.node.as_ref();
        node.filter(|_| wants(BrowseResultMask::BrowseName))
            .map_or(
                QualifiedNameRef {
                    namespace: 0,
                    name: None,
                },
                NodeRef::browse_name,
            )
            .encode(response)?;
        node.filter(|_| wants(BrowseResultMask::DisplayName))
            .map_or(
                LocalizedTextRef {
                    locale: None,
                    text: None,
                },
                NodeRef::display_name,
            )
            .encode(response)?;
        node.filter(|_| wants(BrowseResultMask::NodeClass))
            .map_or(NodeClass::Unspecified, NodeRef::node_class)
            .encode(response)?;
        let has_type = |node: &&NodeRef<'_>| {
            matches!(node.node_class(), NodeClass::Object | NodeClass::Variable)
        };
        let type_definition = node
            .filter(|_| wants(BrowseResultMask::TypeDefinition))
            .filter(has_type)
            .and_then(|node| view.type_definition(node.node_id()));
        expanded(
            type_definition
                .as_ref()
                .map_or(NodeIdRef::NULL, NodeId::as_ref),
        )
        .encode(response)
    }
}

fn expanded(node_id: NodeIdRef<'_>) -> ExpandedNodeIdRef<'_> {
    ExpandedNodeIdRef {
        node_id,
        namespace_uri: None,
        server_index: 0,
    }
}
