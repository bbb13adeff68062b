//! BrowseNext (OPC 10000-4, 5.9.3).

use takt_space::View;
use takt_ua::binary::Decoder;
use takt_ua::{ByteString, StatusCode, ids};

use super::browsing::Browsing;
use super::request::Request;
use super::sliced::operation_list::Items;
use crate::responses::fault::Fault;
use crate::session::Session;
use crate::session::continuation::Cursor;

/// A BrowseNext request.
pub(super) struct BrowseNext {
    /// True if continuation points are released, not continued.
    release: bool,
}

impl Browsing for BrowseNext {
    type Item = ByteString;
    const RESPONSE: u32 = ids::BROWSE_NEXT_RESPONSE_ENCODING_DEFAULT_BINARY;

    fn parse(
        request: &Request<'_>,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<ByteString>), Fault> {
        let release = body.bool()?;
        let limits = &request.server.budgets.operations;
        let items = Items::take(request, body, limits.max_nodes_per_browse)?;
        Ok((Self { release }, items))
    }

    fn cursor(
        &self,
        session: &Session,
        _: &View<'_>,
        name: ByteString,
    ) -> Result<Option<Cursor>, StatusCode> {
        let cursor = session.continuation_points().take(name.as_bytes());
        let cursor = cursor.ok_or(StatusCode::BadContinuationPointInvalid)?;
        Ok((!self.release).then_some(cursor))
    }
}
