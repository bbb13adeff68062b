//! BrowseNext (OPC 10000-4, 5.9.3).

use std::sync::Arc;

use takt_ua::binary::{Decoder, Encoder};
use takt_ua::structures::BrowseNextRequest;
use takt_ua::{StatusCode, ids};

use super::pages::Pages;
use super::{Handled, Request, check_count, decode};
use crate::session::Session;

/// Handles a BrowseNext request.
pub(crate) fn handle(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let next: BrowseNextRequest = decode(structure)?;
    let limits = &request.server.limits;
    check_count(
        next.continuation_points.len(),
        limits.operations.max_nodes_per_browse,
    )?;

    let view = request.server.space.view();
    let mut pages = Pages::begin(
        request,
        ids::BROWSE_NEXT_RESPONSE_ENCODING_DEFAULT_BINARY,
        next.continuation_points.len(),
        session,
        response,
    )?;
    for name in &next.continuation_points {
        match pages.take(name.as_bytes()) {
            None => pages.error(StatusCode::BadContinuationPointInvalid)?,
            Some(_) if next.release_continuation_points => pages.error(StatusCode::Good)?,
            Some(cursor) => pages.page(&view, cursor)?,
        }
    }
    pages.end()
}
