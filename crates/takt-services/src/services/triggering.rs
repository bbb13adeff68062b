//! SetTriggering (OPC 10000-4, 5.13.5). Links are removed before others are added; the results of removing follow those of
//! adding.

use std::sync::Arc;

use takt_ua::binary::{Decode, Decoder, Encoder};
use takt_ua::{StatusCode, ids};

use super::request::{Handled, Request, check_count};
use super::sliced::first_slice;
use super::sliced::service::{Progress, Service, Turn, response_size};
use super::subscriptions::status_of;
use crate::responses::fault::Fault;
use crate::server::connection::Connection;
use crate::session::Session;
use crate::subscriptions::Subscription;
use crate::subscriptions::item::MonitoredItem;

/// Links of an item that are searched in one unit of work.
const LINKS_PER_UNIT: usize = 16;

const STATUS_SIZE: usize = size_of::<StatusCode>();

/// Handles a SetTriggering request.
pub(crate) fn handle(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let (subscription_id, triggering_item_id) = (body.u32()?, body.u32()?);
    let (to_add, to_remove) = (
        Vec::<u32>::decode(&mut body)?,
        Vec::<u32>::decode(&mut body)?,
    );
    let limits = &request.server.budgets.operations;
    check_count(
        to_add.len() + to_remove.len(),
        limits.max_monitored_items_per_call,
    )?;
    let service = SetTriggering {
        subscription_id,
        triggering_item_id,
        to_add,
        to_remove,
        removed: 0,
        added: 0,
        results_at: None,
    };
    first_slice::start(request, connection, session, service, response)
}

struct SetTriggering {
    subscription_id: u32,
    triggering_item_id: u32,
    to_add: Vec<u32>,
    to_remove: Vec<u32>,
    /// Number of links that have been removed; `added` is the number of those that have been added.
    removed: usize,
    added: usize,
    /// Positions of the results of adding and of removing in the response: their space is reserved from the beginning.
    results_at: Option<(usize, usize)>,
}

impl SetTriggering {
    fn begin(&self, turn: &mut Turn<'_, '_>) -> Result<(usize, usize), Fault> {
        let response = ids::SET_TRIGGERING_RESPONSE_ENCODING_DEFAULT_BINARY;
        turn.request.respond(response, turn.response)?;
        let mut list = |count: usize| {
            turn.response.array_length(Some(count))?;
            let at = turn.response.position() - turn.start;
            for _ in 0..count {
                turn.response.u32(0)?;
            }
            // No DiagnosticInfos.
            turn.response.array_length(Some(0))?;
            Ok::<_, Fault>(at)
        };
        Ok((list(self.to_add.len())?, list(self.to_remove.len())?))
    }

    /// Processes one link. Returns true if there are more.
    fn step(
        &mut self,
        turn: &mut Turn<'_, '_>,
        (adds_at, removes_at): (usize, usize),
        subscription: &Subscription,
        triggering: &Arc<MonitoredItem>,
    ) -> bool {
        let (at, status) = if let Some(id) = self.to_remove.get(self.removed) {
            let status = match subscription.item(*id) {
                Ok(item) if triggering.unlink(item) => StatusCode::Good,
                Ok(_) => StatusCode::BadMonitoredItemIdInvalid,
                Err(status) => status,
            };
            self.removed += 1;
            (removes_at + (self.removed - 1) * STATUS_SIZE, status)
        } else if let Some(id) = self.to_add.get(self.added) {
            let item = subscription.item(*id);
            let status = status_of(item.and_then(|item| triggering.link(item)));
            self.added += 1;
            (adds_at + (self.added - 1) * STATUS_SIZE, status)
        } else {
            return false;
        };
        turn.response.patch_u32(turn.start + at, status.0);
        let links = triggering.link_count() / LINKS_PER_UNIT;
        turn.work.spend(1 + links as u64);
        true
    }
}

impl Service for SetTriggering {
    fn run(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault> {
        let server = turn.request.server;
        server.subscriptions.with(|engine| {
            let (subscription, _) =
                engine.subscription_to_change(&turn.session.id, self.subscription_id)?;
            let triggering = Arc::clone(subscription.item(self.triggering_item_id)?);
            let places = match self.results_at {
                Some(places) => places,
                None => {
                    let operations = self.to_add.len() + self.to_remove.len();
                    let most = triggering.link_count() + self.to_add.len();
                    let needed = operations * (1 + most / LINKS_PER_UNIT);
                    if turn.is_inline && needed as u64 > turn.work.left() {
                        // Nothing is changed before memory for the task is available.
                        return Ok(Progress::Unfinished);
                    }
                    subscription.machine.reset_lifetime();
                    *self.results_at.insert(self.begin(turn)?)
                }
            };
            while self.step(turn, places, subscription, &triggering) {
                if turn.work.is_over() {
                    return Ok(Progress::Unfinished);
                }
            }
            Ok(Progress::Complete)
        })
    }

    fn response_size(&self) -> usize {
        response_size(self.to_add.len() + self.to_remove.len(), STATUS_SIZE)
    }
}
