//! ModifyMonitoredItems, SetMonitoringMode and DeleteMonitoredItems (OPC 10000-4, 5.13.3, 5.13.4 and 5.13.6).

use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::{MonitoredItemModifyRequest, MonitoredItemModifyResult};
use takt_ua::{StatusCode, ids};

use super::list::{Items, Operations};
use super::monitored_items::{ITEM, parameters};
use super::request::{Request, check_timestamps};
use super::service::Turn;
use super::subscriptions::{milliseconds, status_of};
use crate::fault::Fault;
use crate::server::Server;
use crate::session::Session;
use crate::subscriptions::load::Allotment;
use crate::subscriptions::sampler::Sampler;
use crate::subscriptions::{Engine, Now, Removed, Subscription};

/// Decodes the list of items of a request.
fn items<T: for<'d> Decode<'d>>(
    request: &Request<'_>,
    body: &mut Decoder<'_>,
) -> Result<Items<T>, Fault> {
    let limits = &request.server.limits.operations;
    Items::take(request, body, limits.max_monitored_items_per_call)
}

/// A kind of change of MonitoredItems.
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
    fn begin(&mut self, _: &Engine, _: &Session, _count: usize) {}

    /// Returns the id of the item.
    fn id(item: &Self::Item) -> u32;

    /// Changes one item.
    fn change(&mut self, changing: &mut Changing<'_>, item: &Self::Item) -> Self::Result;
}

/// A Subscription whose items are being changed.
pub(super) struct Changing<'c> {
    server: &'c Server,
    subscription: &'c mut Subscription,
    sampler: Sampler<'c>,
    /// Receiver of the samples that the items discard.
    removed: &'c mut Removed,
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
            self.change.begin(engine, turn.session, count);
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
            let (subscription, removed) =
                engine.subscription_to_change(&turn.session.id, self.subscription_id)?;
            subscription.machine.reset_lifetime();
            let mut changing = Changing {
                server,
                subscription,
                sampler: Sampler::new(server.sources(), now.date_time),
                removed,
            };
            let mut change = || {
                while let Some(item) = items.next(turn)? {
                    turn.work.spend(ITEM);
                    let result = self.change.change(&mut changing, &item);
                    changing.subscription.schedule(C::id(&item), now.instant);
                    result.encode(turn.response)?;
                }
                Ok(())
            };
            let result = change();
            changing.sampler.finish();
            result
        })
    }

    fn end(&mut self, turn: &mut Turn<'_, '_>) -> Result<(), Fault> {
        Ok(turn.response.array_length(Some(0))?)
    }
}

/// A ModifyMonitoredItems request.
pub(super) struct Modify {
    timestamps: TimestampsToReturn,
    /// Part of the sampling budget for the items, determined for all of them at once.
    allotment: Option<Allotment>,
}

impl Change for Modify {
    type Item = MonitoredItemModifyRequest;
    type Result = MonitoredItemModifyResult;
    const RESPONSE: u32 = ids::MODIFY_MONITORED_ITEMS_RESPONSE_ENCODING_DEFAULT_BINARY;
    /// Size without a FilterResult.
    const RESULT_SIZE: usize = 19;

    fn parse(
        request: &Request<'_>,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<MonitoredItemModifyRequest>), Fault> {
        let modify = Self {
            timestamps: TimestampsToReturn(body.i32()?),
            allotment: None,
        };
        check_timestamps(modify.timestamps)?;
        Ok((modify, items(request, body)?))
    }

    fn begin(&mut self, engine: &Engine, session: &Session, count: usize) {
        self.allotment = Some(engine.allotment(&session.id, count));
    }

    fn id(item: &MonitoredItemModifyRequest) -> u32 {
        item.monitored_item_id
    }

    fn change(
        &mut self,
        changing: &mut Changing<'_>,
        item: &MonitoredItemModifyRequest,
    ) -> MonitoredItemModifyResult {
        let modified = match &mut self.allotment {
            Some(allotment) => modify_item(changing, allotment, item, self.timestamps),
            None => Err(StatusCode::BadInternalError),
        };
        modified.unwrap_or_else(|status_code| MonitoredItemModifyResult {
            status_code,
            ..MonitoredItemModifyResult::default()
        })
    }
}

fn modify_item(
    changing: &mut Changing<'_>,
    allotment: &mut Allotment,
    modify: &MonitoredItemModifyRequest,
    timestamps: TimestampsToReturn,
) -> Result<MonitoredItemModifyResult, StatusCode> {
    let (server, subscription) = (changing.server, &*changing.subscription);
    let item = subscription.item(modify.monitored_item_id)?;
    let (watched, requested) = (&item.item_to_monitor, &modify.requested_parameters);
    let view = server.space.view();
    let budget = (allotment, item.sampling().load);
    let parameters = parameters(
        server,
        &view,
        subscription,
        watched,
        requested,
        timestamps,
        budget,
    )?;
    let result = MonitoredItemModifyResult {
        status_code: StatusCode::Good,
        revised_sampling_interval: milliseconds(parameters.sampling.interval),
        revised_queue_size: parameters.queue_size,
        ..MonitoredItemModifyResult::default()
    };
    changing.removed.discard(item.modify(parameters));
    Ok(result)
}

/// A SetMonitoringMode request.
pub(super) struct SetMode(MonitoringMode);

impl Change for SetMode {
    type Item = u32;
    type Result = StatusCode;
    const RESPONSE: u32 = ids::SET_MONITORING_MODE_RESPONSE_ENCODING_DEFAULT_BINARY;
    const RESULT_SIZE: usize = size_of::<StatusCode>();

    fn parse(request: &Request<'_>, body: &mut Decoder<'_>) -> Result<(Self, Items<u32>), Fault> {
        let mode = MonitoringMode(body.i32()?);
        if !(0..=2).contains(&mode.0) {
            return Err(Fault(StatusCode::BadMonitoringModeInvalid));
        }
        Ok((Self(mode), items(request, body)?))
    }

    fn id(item: &u32) -> u32 {
        *item
    }

    fn change(&mut self, changing: &mut Changing<'_>, id: &u32) -> StatusCode {
        match changing.subscription.item(*id) {
            Ok(item) => {
                let begins = !item.is_sampled();
                changing.removed.discard(item.set_mode(self.0));
                if begins && self.0 != MonitoringMode::Disabled {
                    let owner = &changing.subscription.owner;
                    changing.sampler.sample(item, owner);
                }
                StatusCode::Good
            }
            Err(status) => status,
        }
    }
}

/// A DeleteMonitoredItems request.
pub(super) struct Delete;

impl Change for Delete {
    type Item = u32;
    type Result = StatusCode;
    const RESPONSE: u32 = ids::DELETE_MONITORED_ITEMS_RESPONSE_ENCODING_DEFAULT_BINARY;
    const RESULT_SIZE: usize = size_of::<StatusCode>();

    fn parse(request: &Request<'_>, body: &mut Decoder<'_>) -> Result<(Self, Items<u32>), Fault> {
        Ok((Self, items(request, body)?))
    }

    fn id(item: &u32) -> u32 {
        *item
    }

    fn change(&mut self, changing: &mut Changing<'_>, id: &u32) -> StatusCode {
        let removed = changing.subscription.remove(*id);
        status_of(removed.map(|samples| changing.removed.discard(samples)))
    }
}
