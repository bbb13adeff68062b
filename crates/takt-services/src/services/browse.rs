//! Browse (OPC 10000-4, 5.9.2).

use std::sync::{Arc, MutexGuard, PoisonError};

use takt_ua::binary::{Decoder, Encode, EncodeError, Encoder};
use takt_ua::enumerations::{BrowseDirection, BrowseResultMask, NodeClass};
use takt_ua::structures::{BrowseDescription, BrowseRequest};
use takt_ua::{
    ExpandedNodeIdRef, LocalizedTextRef, NodeId, NodeIdRef, QualifiedNameRef, StatusCode, ids,
};

use super::continuation::{ContinuationPoints, Cursor, ENCODED_SIZE, LastSeen};
use super::{Fault, Handled, Request, check_count, decode};
use crate::address_space::{NodeRef, ReferenceView, References, TargetRef, TypeFilter, View};
use crate::connection::Outcome;
use crate::session::Session;

/// Bytes of a result with a continuation point and no references: what each result gets at least.
const MIN_RESULT_SIZE: usize = 4 + ENCODED_SIZE + 4;

/// Which references a client wants, and what it wants to know about them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Selection {
    direction: BrowseDirection,
    /// Null: all.
    reference_type: NodeId,
    include_subtypes: bool,
    /// 0: all.
    node_classes: u32,
    result_mask: u32,
}

/// Handles a Browse request.
pub(crate) fn handle(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let browse: BrowseRequest = decode(structure)?;
    let limits = &request.server.limits;
    check_count(
        browse.nodes_to_browse.len(),
        limits.operations.max_nodes_per_browse,
    )?;
    // There are no Views in this address space to restrict it to.
    if !browse.view.view_id.is_null() {
        return Err(Fault(StatusCode::BadViewIdUnknown));
    }
    let max_references = match browse.requested_max_references_per_node {
        0 => limits.max_references_per_node,
        requested => requested.min(limits.max_references_per_node),
    };

    let view = request.server.space.view();
    let mut pages = Pages::begin(
        request,
        ids::BROWSE_RESPONSE_ENCODING_DEFAULT_BINARY,
        browse.nodes_to_browse.len(),
        session,
        response,
    )?;
    for description in browse.nodes_to_browse {
        match check(&view, &description) {
            Err(status) => pages.error(status)?,
            Ok(()) => pages.page(
                &view,
                Cursor {
                    node_id: description.node_id,
                    selection: Selection {
                        direction: description.browse_direction,
                        reference_type: description.reference_type_id,
                        include_subtypes: description.include_subtypes,
                        node_classes: description.node_class_mask,
                        result_mask: description.result_mask,
                    },
                    max_references: usize::try_from(max_references).unwrap_or(usize::MAX),
                    position: 0,
                    last: None,
                },
            )?,
        }
    }
    pages.end()
}

fn check(view: &View<'_>, description: &BrowseDescription) -> Result<(), StatusCode> {
    if description.node_id.is_null() {
        return Err(StatusCode::BadNodeIdInvalid);
    }
    if view.node(&description.node_id).is_none() {
        return Err(StatusCode::BadNodeIdUnknown);
    }
    if !matches!(
        description.browse_direction,
        BrowseDirection::Forward | BrowseDirection::Inverse | BrowseDirection::Both
    ) {
        return Err(StatusCode::BadBrowseDirectionInvalid);
    }
    let reference_type = &description.reference_type_id;
    let is_reference_type = || {
        view.node(reference_type)
            .is_some_and(|node| node.node_class() == NodeClass::ReferenceType)
    };
    if !reference_type.is_null() && !is_reference_type() {
        return Err(StatusCode::BadReferenceTypeIdInvalid);
    }
    Ok(())
}

/// Encodes the results of Browse and BrowseNext one after another. What does not fit into the response is left for a
/// continuation point.
pub(super) struct Pages<'e, 'b> {
    response: &'e mut Encoder<'b>,
    points: MutexGuard<'e, ContinuationPoints>,
    /// Results still to come.
    remaining: usize,
    is_first: bool,
}

impl<'e, 'b> Pages<'e, 'b> {
    pub(super) fn begin(
        request: &Request<'_>,
        encoding_id: u32,
        count: usize,
        session: &'e Session,
        response: &'e mut Encoder<'b>,
    ) -> Result<Self, Fault> {
        request.respond(encoding_id, response)?;
        response.array_length(Some(count))?;
        let points = session
            .continuation_points
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        Ok(Self {
            response,
            points,
            remaining: count,
            is_first: true,
        })
    }

    /// Takes the cursor of a continuation point.
    pub(super) fn take(&mut self, name: &[u8]) -> Option<Cursor> {
        self.points.take(name)
    }

    /// A result without references.
    pub(super) fn error(&mut self, status: StatusCode) -> Result<(), Fault> {
        self.next();
        status.encode(self.response)?;
        self.response.byte_string(None)?;
        self.response.array_length(None)?;
        Ok(())
    }

    fn next(&mut self) -> bool {
        self.remaining = self.remaining.saturating_sub(1);
        std::mem::replace(&mut self.is_first, false)
    }

    /// The next references from a cursor on.
    pub(super) fn page(&mut self, view: &View<'_>, mut cursor: Cursor) -> Result<(), Fault> {
        let Some(node) = view.node(&cursor.node_id) else {
            return self.error(StatusCode::BadNodeIdUnknown);
        };
        let references = node.references();
        let Some(position) = resume(&references, &cursor) else {
            return self.error(StatusCode::BadContinuationPointInvalid);
        };
        cursor.position = position;
        let is_first = self.next();
        let start = self.response.position();
        let mut walk = Walk::new(view, &references, &cursor);
        let mut limit = cursor.max_references;
        let mut has_more = references.len() - position > limit && walk.more_than(limit);
        loop {
            self.response.truncate(start);
            if has_more && !self.points.has_room() {
                // `next` was counted already.
                self.remaining += 1;
                return self.error(StatusCode::BadNoContinuationPoints);
            }
            let written = match self.try_page(&mut walk, limit, has_more)? {
                Ok(written) => written,
                // So many fit; with a continuation point, which is longer, perhaps one less.
                Err(fitting) if has_more => {
                    limit = fitting.min(limit.saturating_sub(1));
                    continue;
                }
                Err(fitting) => {
                    (limit, has_more) = (fitting, true);
                    continue;
                }
            };
            if has_more {
                if is_first && written.count == 0 {
                    // Asking again would not help.
                    return Err(Fault(StatusCode::BadResponseTooLarge));
                }
                cursor.position = written.position;
                cursor.last = references
                    .get(written.position.wrapping_sub(1))
                    .map(|last| LastSeen::from(&last));
                let name = self.points.insert(cursor);
                self.name_continuation_point(start, name);
            }
            return Ok(());
        }
    }

    /// Encodes up to `limit` references. `Err` says how many fitted.
    fn try_page(
        &mut self,
        walk: &mut Walk<'_>,
        limit: usize,
        has_more: bool,
    ) -> Result<Result<Written, usize>, Fault> {
        let reserved = self.remaining * MIN_RESULT_SIZE + 4;
        StatusCode::Good.encode(self.response)?;
        // The name is known only when it is certain that it is needed.
        self.response
            .byte_string(has_more.then_some([0; 8].as_slice()))?;
        let count_at = self.response.position();
        self.response.array_length(Some(0))?;
        walk.rewind();
        let mut count = 0;
        while count < limit {
            let Some(found) = walk.next() else { break };
            let fits = found
                .encode(walk.view, walk.result_mask, self.response)
                .is_ok()
                && self.response.available() >= reserved;
            if !fits {
                return Ok(Err(count));
            }
            count += 1;
        }
        let encoded = u32::try_from(count).map_err(|_| Fault(StatusCode::BadResponseTooLarge))?;
        self.response.patch_u32(count_at, encoded);
        Ok(Ok(Written {
            count,
            position: walk.position,
        }))
    }

    fn name_continuation_point(&mut self, start: usize, name: [u8; 8]) {
        let [a, b, c, d, e, f, g, h] = name;
        // After the StatusCode and the length of the ByteString.
        self.response
            .patch_u32(start + 8, u32::from_le_bytes([a, b, c, d]));
        self.response
            .patch_u32(start + 12, u32::from_le_bytes([e, f, g, h]));
    }

    pub(super) fn end(self) -> Handled {
        self.response.array_length(None)?;
        Ok(Outcome::Complete)
    }
}

struct Written {
    count: usize,
    position: usize,
}

impl From<&ReferenceView<'_>> for LastSeen {
    fn from(reference: &ReferenceView<'_>) -> Self {
        let target = match reference.target {
            TargetRef::Local(target) => target.to_owned(),
            TargetRef::Remote(target) => target.node_id.clone(),
        };
        Self {
            reference_type: reference.reference_type.to_owned(),
            is_forward: reference.is_forward,
            target,
        }
    }
}

/// Where a cursor goes on. References before it may have been deleted, which moves it towards the front; `None` if
/// the last one that the client saw is gone itself.
fn resume(references: &References, cursor: &Cursor) -> Option<usize> {
    let Some(last) = &cursor.last else {
        return Some(cursor.position);
    };
    let end = cursor.position.min(references.len());
    (1..=end).rev().find(|position| {
        references
            .get(position - 1)
            .is_some_and(|reference| LastSeen::from(&reference) == *last)
    })
}

/// The references of a node that a selection wants, from a position on.
struct Walk<'w> {
    view: &'w View<'w>,
    references: &'w References,
    selection: &'w Selection,
    result_mask: u32,
    types: TypeFilter,
    start: usize,
    /// The reference after the last one that was found.
    position: usize,
}

impl<'w> Walk<'w> {
    fn new(view: &'w View<'w>, references: &'w References, cursor: &'w Cursor) -> Self {
        let selection = &cursor.selection;
        Self {
            view,
            references,
            selection,
            result_mask: selection.result_mask,
            types: TypeFilter::new(
                selection.reference_type.as_ref(),
                selection.include_subtypes,
            ),
            start: cursor.position,
            position: cursor.position,
        }
    }

    fn rewind(&mut self) {
        self.position = self.start;
    }

    fn more_than(&mut self, limit: usize) -> bool {
        self.rewind();
        (0..=limit).all(|_| self.next().is_some())
    }

    fn next(&mut self) -> Option<Found<'w>> {
        loop {
            let reference = self.references.get(self.position)?;
            self.position += 1;
            if let Some(found) = self.wanted(reference) {
                return Some(found);
            }
        }
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
            // A reference to a node that does not exist leads nowhere: it is left out.
            TargetRef::Local(target) => Some(self.view.node(target)?),
            TargetRef::Remote(_) => None,
        };
        let classes = self.selection.node_classes;
        // The NodeClass of a remote node is not known, and then does not count.
        let class = node
            .is_none_or(|node| classes == 0 || classes & node.node_class().0.cast_unsigned() != 0);
        class.then_some(Found { reference, node })
    }
}

/// A reference that a client wants to know about.
struct Found<'w> {
    reference: ReferenceView<'w>,
    node: Option<NodeRef<'w>>,
}

impl Found<'_> {
    /// Encodes a ReferenceDescription (OPC 10000-4, 7.29); what the ResultMask leaves out is null.
    fn encode(
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
