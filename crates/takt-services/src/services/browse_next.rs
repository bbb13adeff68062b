//! BrowseNext (OPC 10000-4, 5.9.3).

use std::sync::Arc;

use takt_ua::binary::{Decoder, Encoder};
use takt_ua::{ByteString, StatusCode, ids};

use super::list::{Items, List, Operations};
use super::pages::Pages;
use super::request::{Handled, Request};
use super::service::Turn;
use super::slices;
use crate::connection::Connection;
use crate::fault::Fault;
use crate::server::Server;
use crate::session::Session;

/// Handles a BrowseNext request.
pub(crate) fn handle(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let next = BrowseNext {
        release: body.bool()?,
        pages: Pages::default(),
    };
    let limits = &request.server.limits.operations;
    let items = Items::take(request, &mut body, limits.max_nodes_per_browse)?;
    slices::start(
        request,
        connection,
        session,
        List::new(next, items),
        response,
    )
}

struct BrowseNext {
    /// True if continuation points are released, not continued.
    release: bool,
    pages: Pages,
}

impl Operations for BrowseNext {
    type Item = ByteString;

    fn begin(&mut self, turn: &mut Turn<'_, '_>, count: usize) -> Result<(), Fault> {
        let response = ids::BROWSE_NEXT_RESPONSE_ENCODING_DEFAULT_BINARY;
        self.pages.begin(turn, response, count)
    }

    fn operate(
        &mut self,
        turn: &mut Turn<'_, '_>,
        items: &mut Items<ByteString>,
    ) -> Result<(), Fault> {
        let view = turn.request.server.space.view();
        loop {
            self.pages.run(turn, &view)?;
            if self.pages.is_busy() {
                return Ok(());
            }
            let Some(name) = items.next(turn)? else {
                return Ok(());
            };
            let cursor = turn.session.continuation_points().take(name.as_bytes());
            match cursor {
                None => self
                    .pages
                    .error(turn, StatusCode::BadContinuationPointInvalid)?,
                Some(_) if self.release => self.pages.error(turn, StatusCode::Good)?,
                Some(cursor) => self.pages.page(turn, &view, cursor)?,
            }
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
