//! The operations of Browse and BrowseNext (OPC 10000-4, 5.9.2 and 5.9.3), whose results are pages of references.

use takt_space::View;
use takt_ua::StatusCode;
use takt_ua::binary::{Decode, Decoder};

use super::pages::Pages;
use super::request::Request;
use super::sliced::operation_list::{Items, Operations};
use super::sliced::service::{Progress, Turn};
use crate::responses::fault::Fault;
use crate::server::Server;
use crate::session::Session;
use crate::session::continuation::Cursor;

/// One of the two services.
pub(super) trait Browsing: Send + Sized + 'static {
    type Item: for<'d> Decode<'d>;
    /// TypeId of the response.
    const RESPONSE: u32;

    /// Decodes and checks the parameters of a request, up to its list.
    fn parse(
        request: &Request<'_>,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<Self::Item>), Fault>;

    /// Returns the position from which the references of an operation are wanted; `None`: no references are wanted.
    fn cursor(
        &self,
        session: &Session,
        view: &View<'_>,
        item: Self::Item,
    ) -> Result<Option<Cursor>, StatusCode>;
}

/// The operations of a request.
pub(super) struct Browsed<B> {
    service: B,
    pages: Pages,
}

impl<B: Browsing> Operations for Browsed<B> {
    type Item = B::Item;

    fn parse(
        request: &Request<'_>,
        _: &Session,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<B::Item>), Fault> {
        let (service, items) = B::parse(request, body)?;
        let pages = Pages::default();
        Ok((Self { service, pages }, items))
    }

    fn begin(&mut self, turn: &mut Turn<'_, '_>, count: usize) -> Result<(), Fault> {
        self.pages.begin(turn, B::RESPONSE, count)
    }

    fn operate(
        &mut self,
        turn: &mut Turn<'_, '_>,
        items: &mut Items<B::Item>,
    ) -> Result<(), Fault> {
        let view = turn.request.server.space.view();
        loop {
            self.pages.run(turn, &view)?;
            if self.pages.is_busy() {
                return Ok(());
            }
            let Some(item) = items.next(turn)? else {
                return Ok(());
            };
            match self.service.cursor(turn.session, &view, item) {
                Ok(Some(cursor)) => self.pages.page(turn, &view, cursor)?,
                Ok(None) => self.pages.empty(turn, StatusCode::Good)?,
                Err(status) => self.pages.empty(turn, status)?,
            }
        }
    }

    fn is_busy(&self) -> bool {
        self.pages.is_busy()
    }

    fn end(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault> {
        turn.response.array_length(None)?;
        Ok(Progress::Complete)
    }

    fn abandon(&mut self, _: &Server, session: &Session) {
        self.pages.release(session);
    }
}
