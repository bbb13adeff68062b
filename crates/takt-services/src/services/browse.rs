//! Browse (OPC 10000-4, 5.9.2).

use takt_space::{Caller, View};
use takt_ua::binary::{Decode, Decoder};
use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::{BrowseDescription, ViewDescription};
use takt_ua::{StatusCode, ids};

use super::browsing::Browsing;
use super::request::Request;
use super::sliced::operation_list::Items;
use crate::identity::access;
use crate::responses::fault::Fault;
use crate::session::Session;
use crate::session::continuation::{Cursor, Selection};

/// A Browse request.
pub(super) struct Browse {
    max_references: usize,
}

impl Browsing for Browse {
    type Item = BrowseDescription;
    const RESPONSE: u32 = ids::BROWSE_RESPONSE_ENCODING_DEFAULT_BINARY;

    fn parse(
        request: &Request<'_>,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<BrowseDescription>), Fault> {
        let budgets = &request.server.budgets;
        let view = ViewDescription::decode(body)?;
        let max_references = match body.u32()? {
            // 0: the client sets no limit.
            0 => budgets.max_references_per_node,
            requested => requested.min(budgets.max_references_per_node),
        };
        let items = Items::take(request, body, budgets.operations.max_nodes_per_browse)?;
        // This address space has no Views to restrict the Browse to.
        if !view.view_id.is_null() {
            return Err(Fault(StatusCode::BadViewIdUnknown));
        }
        let max_references = usize::try_from(max_references).unwrap_or(usize::MAX);
        Ok((Self { max_references }, items))
    }

    fn cursor(
        &self,
        session: &Session,
        view: &View<'_>,
        description: BrowseDescription,
    ) -> Result<Option<Cursor>, StatusCode> {
        check(view, &session.caller.load(), &description)?;
        Ok(Some(Cursor {
            node_id: description.node_id,
            selection: Selection {
                direction: description.browse_direction,
                reference_type: description.reference_type_id,
                include_subtypes: description.include_subtypes,
                node_classes: description.node_class_mask,
                result_mask: description.result_mask,
            },
            max_references: self.max_references,
            position: 0,
            last: None,
        }))
    }
}

fn check(
    view: &View<'_>,
    caller: &Caller,
    description: &BrowseDescription,
) -> Result<(), StatusCode> {
    if description.node_id.is_null() {
        return Err(StatusCode::BadNodeIdInvalid);
    }
    let node = view.node(&description.node_id);
    access::check_browse(caller, &node.ok_or(StatusCode::BadNodeIdUnknown)?)?;
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
