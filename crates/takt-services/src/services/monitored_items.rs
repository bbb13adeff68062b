//! CreateMonitoredItems (OPC 10000-4, 5.13.2).

use std::sync::Arc;

use takt_space::{Caller, View};
use takt_ua::binary::{Decoder, Encode};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::{
    MonitoredItemCreateRequest, MonitoredItemCreateResult, MonitoringParameters, ReadValueId,
};
use takt_ua::{NumericRange, StatusCode, ids};

use super::list::{Items, Operations};
use super::request::{Request, check_timestamps};
use super::service::Turn;
use super::subscriptions::milliseconds;
use crate::fault::Fault;
use crate::reading::attributes::{EVENT_NOTIFIER, VALUE, attribute};
use crate::reading::check_encoding;
use crate::reading::value_of;
use crate::server::Server;
use crate::session::Session;
use crate::subscriptions::filter::Filter;
use crate::subscriptions::item::{MonitoredItem, Parameters};
use crate::subscriptions::load::{Allotment, Load};
use crate::subscriptions::sampler::Sampler;
use crate::subscriptions::{Now, Subscription, revise};

/// Units of work for one item.
pub(super) const ITEM: u64 = 10;

/// A CreateMonitoredItems request.
pub(super) struct Create {
    subscription_id: u32,
    timestamps: TimestampsToReturn,
    /// Part of the sampling budget that the items may use, determined for all of them at once.
    allotment: Option<Allotment>,
}

impl Operations for Create {
    type Item = MonitoredItemCreateRequest;
    /// Size of a MonitoredItemCreateResult without a FilterResult.
    const RESULT_SIZE: usize = 23;
    const COST: u64 = ITEM;

    fn parse(
        request: &Request<'_>,
        _: &Session,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<MonitoredItemCreateRequest>), Fault> {
        let create = Self {
            subscription_id: body.u32()?,
            timestamps: TimestampsToReturn(body.i32()?),
            allotment: None,
        };
        let limits = &request.server.limits.operations;
        let items = Items::take(request, body, limits.max_monitored_items_per_call)?;
        check_timestamps(create.timestamps)?;
        Ok((create, items))
    }

    fn begin(&mut self, turn: &mut Turn<'_, '_>, count: usize) -> Result<(), Fault> {
        let session = &turn.session.id;
        let allotment = turn.request.server.subscriptions.with(|engine| {
            engine.subscription(session, self.subscription_id)?;
            Ok::<_, StatusCode>(engine.allotment(session, count))
        })?;
        self.allotment = Some(allotment);
        let response = ids::CREATE_MONITORED_ITEMS_RESPONSE_ENCODING_DEFAULT_BINARY;
        turn.request.respond(response, turn.response)?;
        Ok(turn.response.array_length(Some(count))?)
    }

    fn operate(
        &mut self,
        turn: &mut Turn<'_, '_>,
        items: &mut Items<MonitoredItemCreateRequest>,
    ) -> Result<(), Fault> {
        let server = turn.request.server;
        let now = Now::get();
        let Some(allotment) = &mut self.allotment else {
            return Err(Fault(StatusCode::BadInternalError));
        };
        server.subscriptions.with(|engine| {
            let mut room = engine.room_for_items(self.subscription_id);
            let subscription = engine.subscription(&turn.session.id, self.subscription_id)?;
            subscription.machine.reset_lifetime();
            let mut sampler = Sampler::new(server.sources(), now.date_time);
            let mut create = || {
                while let Some(item) = items.next(turn)? {
                    turn.work.spend(ITEM);
                    if room == 0 {
                        failed(StatusCode::BadTooManyMonitoredItems).encode(turn.response)?;
                        continue;
                    }
                    match create_item(server, subscription, allotment, item, self.timestamps) {
                        Ok((item, result)) => {
                            room -= 1;
                            if item.is_sampled() {
                                sampler.sample(&item, &subscription.owner);
                            }
                            subscription.add(item, now.instant);
                            result.encode(turn.response)?;
                        }
                        Err(status) => failed(status).encode(turn.response)?,
                    }
                }
                Ok(())
            };
            let created = create();
            sampler.finish();
            created
        })
    }

    fn end(&mut self, turn: &mut Turn<'_, '_>) -> Result<(), Fault> {
        Ok(turn.response.array_length(Some(0))?)
    }
}

fn failed(status_code: StatusCode) -> MonitoredItemCreateResult {
    MonitoredItemCreateResult {
        status_code,
        ..MonitoredItemCreateResult::default()
    }
}

fn create_item(
    server: &Server,
    subscription: &mut Subscription,
    allotment: &mut Allotment,
    create: MonitoredItemCreateRequest,
    timestamps: TimestampsToReturn,
) -> Result<(Arc<MonitoredItem>, MonitoredItemCreateResult), StatusCode> {
    if !(0..=2).contains(&create.monitoring_mode.0) {
        return Err(StatusCode::BadMonitoringModeInvalid);
    }
    let watched = create.item_to_monitor;
    let view = server.space.view();
    let range = check_watched(server, &view, &subscription.owner, &watched)?;
    let parameters = parameters(
        server,
        &view,
        subscription,
        &watched,
        &create.requested_parameters,
        timestamps,
        (allotment, Load::default()),
    )?;
    let charge = subscription.memory.charge(MonitoredItem::memory(&watched));
    let charge = charge.map_err(|_| StatusCode::BadTooManyMonitoredItems)?;
    let result = MonitoredItemCreateResult {
        status_code: StatusCode::Good,
        monitored_item_id: subscription.next_item_id(),
        revised_sampling_interval: milliseconds(parameters.sampling.interval),
        revised_queue_size: parameters.queue_size,
        ..MonitoredItemCreateResult::default()
    };
    let item = MonitoredItem::new(
        result.monitored_item_id,
        watched,
        range,
        create.monitoring_mode,
        parameters,
        Arc::clone(&subscription.ready),
        charge,
    );
    Ok((Arc::new(item), result))
}

/// Checks that the attribute that the client wants to monitor exists. Errors of reading it are reported with the values
/// (OPC 10000-4, 5.13.2.1).
fn check_watched(
    server: &Server,
    view: &View<'_>,
    caller: &Caller,
    watched: &ReadValueId,
) -> Result<Option<NumericRange>, StatusCode> {
    let node = match view.node(&watched.node_id) {
        Some(node) => node,
        None if watched.node_id.as_ref().is_null() => return Err(StatusCode::BadNodeIdInvalid),
        None => return Err(StatusCode::BadNodeIdUnknown),
    };
    let range = NumericRange::of_request(watched.index_range.as_option())?;
    if watched.attribute_id == VALUE {
        node.variable().ok_or(StatusCode::BadAttributeIdInvalid)?;
        if !watched.data_encoding.as_ref().is_null() {
            let whole = ReadValueId {
                index_range: takt_ua::UaString::default(),
                data_encoding: takt_ua::QualifiedName::default(),
                ..watched.clone()
            };
            let now = takt_ua::DateTime::now();
            let value = value_of(view, caller, &whole, now, server.limits.max_response_size).value;
            check_encoding(&watched.data_encoding.as_ref(), value.as_ref())?;
        }
    } else {
        attribute(caller, &node, watched.attribute_id)?;
        if !watched.data_encoding.as_ref().is_null() {
            return Err(StatusCode::BadDataEncodingInvalid);
        }
        if watched.attribute_id == EVENT_NOTIFIER {
            // This attribute is for Events, which this server does not support.
            return Err(StatusCode::BadMonitoredItemFilterUnsupported);
        }
    }
    Ok(range)
}

/// Returns the revised parameters.
pub(super) fn parameters(
    server: &Server,
    view: &View<'_>,
    subscription: &Subscription,
    watched: &ReadValueId,
    requested: &MonitoringParameters,
    timestamps: TimestampsToReturn,
    sampling_budget: (&mut Allotment, Load),
) -> Result<Parameters, StatusCode> {
    let limits = &server.limits.subscriptions;
    let filter = match view.node(&watched.node_id) {
        Some(node) => Filter::of_request(&requested.filter, view, &node, watched.attribute_id)?,
        None => Filter::default(),
    };
    let queue_size = revise::queue_size(requested.queue_size, limits);
    Ok(Parameters {
        client_handle: requested.client_handle,
        sampling: revise::sampling(
            requested.sampling_interval,
            queue_size,
            subscription.publishing_interval(),
            watched,
            view,
            limits,
            sampling_budget,
        ),
        filter,
        queue_size,
        discard_oldest: requested.discard_oldest,
        timestamps,
    })
}
