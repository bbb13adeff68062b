//! ModifyMonitoredItems, SetMonitoringMode and DeleteMonitoredItems (OPC 10000-4, 5.13.3, 5.13.4 and 5.13.6).

use takt_ua::binary::Decoder;
use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::{MonitoredItemModifyRequest, MonitoredItemModifyResult};
use takt_ua::{StatusCode, ids};

use super::item_changes::{Change, Changing, items};
use super::item_parameters::Revision;
use super::request::{Request, check_timestamps};
use super::sliced::operation_list::Items;
use super::subscriptions::{milliseconds, status_of};
use crate::events::filter::RefusedFilter;
use crate::responses::fault::Fault;
use crate::session::Session;
use crate::subscriptions::Engine;

/// A ModifyMonitoredItems request.
pub(super) struct Modify {
    revision: Revision,
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
        let timestamps = TimestampsToReturn(body.i32()?);
        check_timestamps(timestamps)?;
        let revision = Revision::new(timestamps);
        Ok((Self { revision }, items(request, body)?))
    }

    fn begin(
        &mut self,
        engine: &mut Engine,
        session: &Session,
        subscription_id: u32,
        count: usize,
    ) {
        self.revision.begin(engine, session, subscription_id, count);
    }

    fn change(
        &mut self,
        changing: &mut Changing<'_, '_>,
        item: MonitoredItemModifyRequest,
    ) -> MonitoredItemModifyResult {
        let modified = self.modify(changing, &item);
        modified.unwrap_or_else(|refused| MonitoredItemModifyResult {
            status_code: refused.status,
            filter_result: refused.encoded(),
            ..MonitoredItemModifyResult::default()
        })
    }
}

impl Modify {
    fn modify(
        &mut self,
        changing: &mut Changing<'_, '_>,
        modify: &MonitoredItemModifyRequest,
    ) -> Result<MonitoredItemModifyResult, RefusedFilter> {
        let (server, subscription) = (changing.server, &*changing.subscription);
        let item = subscription.item(modify.monitored_item_id)?;
        let (parameters, filter_result) = self.revision.parameters(
            server,
            &server.space.view(),
            subscription,
            &item.item_to_monitor,
            &modify.requested_parameters,
            // The part of the sampling budget that the item has now is free for it.
            item.sampling().load,
        )?;
        let result = MonitoredItemModifyResult {
            status_code: StatusCode::Good,
            revised_sampling_interval: milliseconds(parameters.sampling.interval),
            revised_queue_size: parameters.queue_size,
            filter_result,
        };
        changing.removed.discard(item.modify(parameters)?);
        let id = modify.monitored_item_id;
        changing.subscription.schedule(id, changing.now);
        Ok(result)
    }
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

    fn change(&mut self, changing: &mut Changing<'_, '_>, id: u32) -> StatusCode {
        match changing.subscription.item(id) {
            Ok(item) => {
                // An item that begins to be sampled gets a value at once, and does not wait for its first period.
                let begins = !item.is_sampled();
                changing.removed.discard(item.set_mode(self.0));
                if begins && item.is_sampled() {
                    let owner = &changing.subscription.owner;
                    changing.sampler.sample(item, owner);
                }
                changing.subscription.schedule(id, changing.now);
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

    fn change(&mut self, changing: &mut Changing<'_, '_>, id: u32) -> StatusCode {
        let removed = changing.subscription.remove(id);
        status_of(removed.map(|samples| changing.removed.discard(samples)))
    }
}
