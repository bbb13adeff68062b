//! Browse (OPC 10000-4, 5.9.2).

use std::sync::Arc;

use takt_ua::binary::{Decoder, Encoder};
use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::{BrowseDescription, BrowseRequest};
use takt_ua::{NodeId, StatusCode, ids};

use super::continuation::Cursor;
use super::pages::Pages;
use super::{Fault, Handled, Request, check_count, decode};
use crate::address_space::View;
use crate::session::Session;

/// Which references a client wants, and what it wants to know about them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Selection {
    pub(super) direction: BrowseDirection,
    /// Null: all.
    pub(super) reference_type: NodeId,
    pub(super) include_subtypes: bool,
    /// 0: all.
    pub(super) node_classes: u32,
    pub(super) result_mask: u32,
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
