//! Browse (OPC 10000-4, 5.9.2).

use std::sync::Arc;

use takt_space::View;
use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::enumerations::{BrowseDirection, NodeClass};
use takt_ua::structures::{BrowseDescription, ViewDescription};
use takt_ua::{StatusCode, ids};

use super::list::{Items, List, Operations};
use super::pages::Pages;
use super::request::{Handled, Request};
use super::service::Turn;
use super::slices;
use crate::connection::Connection;
use crate::continuation::{Cursor, Selection};
use crate::fault::Fault;
use crate::server::Server;
use crate::session::Session;

/// Handles a Browse request.
pub(crate) fn handle(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let limits = &request.server.limits;
    let view = ViewDescription::decode(&mut body)?;
    let max_references = match body.u32()? {
        0 => limits.max_references_per_node,
        requested => requested.min(limits.max_references_per_node),
    };
    let items = Items::take(request, &mut body, limits.operations.max_nodes_per_browse)?;
    // This address space has no Views to restrict the Browse to.
    if !view.view_id.is_null() {
        return Err(Fault(StatusCode::BadViewIdUnknown));
    }
    let browse = Browse {
        max_references: usize::try_from(max_references).unwrap_or(usize::MAX),
        pages: Pages::default(),
    };
    let service = List::new(browse, items);
    slices::start(request, connection, session, service, response)
}

struct Browse {
    max_references: usize,
    pages: Pages,
}

impl Operations for Browse {
    type Item = BrowseDescription;

    fn begin(&mut self, turn: &mut Turn<'_, '_>, count: usize) -> Result<(), Fault> {
        let response = ids::BROWSE_RESPONSE_ENCODING_DEFAULT_BINARY;
        self.pages.begin(turn, response, count)
    }

    fn operate(
        &mut self,
        turn: &mut Turn<'_, '_>,
        items: &mut Items<BrowseDescription>,
    ) -> Result<(), Fault> {
        let view = turn.request.server.space.view();
        loop {
            self.pages.run(turn, &view)?;
            if self.pages.is_busy() {
                return Ok(());
            }
            let Some(description) = items.next(turn)? else {
                return Ok(());
            };
            if let Err(status) = check(&view, &description) {
                self.pages.error(turn, status)?;
                continue;
            }
            let cursor = Cursor {
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
            };
            self.pages.page(turn, &view, cursor)?;
        }
    }

    fn is_busy(&self) -> bool {
        self.pages.is_busy()
    }

    fn end(&mut self, turn: &mut Turn<'_, '_>) -> Result<(), Fault> {
        Ok(turn.response.array_length(None)?)
    }

    fn abandon(&mut self, _: &Server, session: &Session) {
        self.pages.release(session);
    }
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
