//! Services that create, change and delete the MonitoredItems of one Subscription (OPC 10000-4, 5.13), item by item.

use std::sync::Arc;
use std::time::Instant;

use takt_ua::StatusCode;
use takt_ua::binary::{Decode, Decoder, Encode};

use super::request::Request;
use super::sliced::operation_list::{Items, Operations};
use super::sliced::service::{Progress, Turn};
use crate::responses::fault::Fault;
use crate::server::Server;
use crate::session::Session;
use crate::subscriptions::event_items::EventItems;
use crate::subscriptions::item::MonitoredItem;
use crate::subscriptions::sampler::Sampler;
use crate::subscriptions::{Engine, Now, Removed, Subscription};

/// Units of work for one item.
const ITEM: u64 = 10;

/// Decodes the list of items of a request.
pub(super) fn items<T: for<'d> Decode<'d>>(
    request: &Request<'_>,
    body: &mut Decoder<'_>,
) -> Result<Items<T>, Fault> {
    let limits = &request.server.budgets.operations;
    Items::take(request, body, limits.max_monitored_items_per_call)
}

/// A service that changes MonitoredItems.
pub(super) trait Change: Send + Sized + 'static {
    type Item: for<'d> Decode<'d>;
    type Result: Encode;
    /// The TypeId of the response.
    const RESPONSE: u32;
    /// Bytes of a result.
    const RESULT_SIZE: usize;

    /// Decodes and checks the parameters of a request after its SubscriptionId, up to its list.
    fn parse(
        request: &Request<'_>,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<Self::Item>), Fault>;

    /// Prepares the change of `_count` items.
    fn begin(&mut self, _: &mut Engine, _: &Session, _subscription_id: u32, _count: usize) {}

    /// Prepares one slice.
    fn begin_slice(&mut self, _: &mut Engine, _subscription_id: u32, _: Now) {}

    /// Changes one item.
    fn change(&mut self, changing: &mut Changing<'_, '_>, item: Self::Item) -> Self::Result;
}

/// A Subscription whose items are being changed.
pub(super) struct Changing<'s, 'c> {
    pub(super) server: &'s Server,
    pub(super) subscription: &'c mut Subscription,
    pub(super) sampler: Sampler<'s>,
    /// Receiver of the samples that the items discard.
    pub(super) removed: &'c mut Removed,
    /// The items of the server that monitor Events.
    pub(super) event_items: Arc<EventItems<MonitoredItem>>,
    /// True if the client may see audit Events.
    pub(super) is_auditor: bool,
    pub(super) now: Instant,
}

/// Changes of items of one Subscription.
pub(super) struct Changes<C> {
    subscription_id: u32,
    change: C,
}

impl<C: Change> Operations for Changes<C> {
    type Item = C::Item;
    const RESULT_SIZE: usize = C::RESULT_SIZE;
    const COST: u64 = ITEM;

    fn parse(
        request: &Request<'_>,
        _: &Session,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<C::Item>), Fault> {
        let subscription_id = body.u32()?;
        let (change, items) = C::parse(request, body)?;
        let changes = Self {
            subscription_id,
            change,
        };
        Ok((changes, items))
    }

    fn begin(&mut self, turn: &mut Turn<'_, '_>, count: usize) -> Result<(), Fault> {
        turn.request.server.subscriptions.with(|engine| {
            engine.subscription(&turn.session.id, self.subscription_id)?;
            self.change
                .begin(engine, turn.session, self.subscription_id, count);
            Ok::<_, StatusCode>(())
        })?;
        turn.request.respond(C::RESPONSE, turn.response)?;
        Ok(turn.response.array_length(Some(count))?)
    }

    fn operate(
        &mut self,
        turn: &mut Turn<'_, '_>,
        items: &mut Items<C::Item>,
    ) -> Result<(), Fault> {
        let server = turn.request.server;
        let now = Now::get();
        server.subscriptions.with(|engine| {
            self.change.begin_slice(engine, self.subscription_id, now);
            let event_items = Arc::clone(engine.dispatch.items());
            let is_auditor = engine.dispatch.is_auditor(&turn.session.caller.load());
            let (subscription, removed) =
                engine.subscription_to_change(&turn.session.id, self.subscription_id)?;
            // A request for the Subscription shows that its client is alive.
            subscription.machine.reset_lifetime();
            let mut changing = Changing {
                server,
                subscription,
                sampler: Sampler::new(server.sources(), now.date_time),
                removed,
                event_items,
                is_auditor,
                now: now.instant,
            };
            let mut change = || {
                while let Some(item) = items.next(turn)? {
                    turn.work.spend(ITEM);
                    let result = self.change.change(&mut changing, item);
                    result.encode(turn.response)?;
                }
                Ok(())
            };
            let result = change();
            // Also after an error: the items so far wait for values of other servers.
            let units = changing.sampler.finish(|| engine.snapshot());
            turn.work.spend(units);
            result
        })
    }

    fn end(&mut self, turn: &mut Turn<'_, '_>) -> Result<Progress, Fault> {
        turn.response.array_length(Some(0))?;
        Ok(Progress::Complete)
    }
}
