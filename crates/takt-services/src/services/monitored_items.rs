//! The MonitoredItem Service Set (OPC 10000-4, 5.13).

use std::sync::Arc;

use takt_ua::binary::{Decoder, Encode, Encoder};
use takt_ua::enumerations::{MonitoringMode, TimestampsToReturn};
use takt_ua::structures::{
    DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse, ModifyMonitoredItemsRequest,
    ModifyMonitoredItemsResponse, MonitoredItemCreateRequest, MonitoredItemCreateResult,
    MonitoredItemModifyRequest, MonitoredItemModifyResult, MonitoringParameters, ReadValueId,
    SetMonitoringModeRequest, SetMonitoringModeResponse, SetTriggeringRequest,
    SetTriggeringResponse,
};
use takt_ua::{NumericRange, StatusCode, ids};

use super::attributes::{EVENT_NOTIFIER, VALUE, attribute};
use super::list::{Items, List, Operations};
use super::slices::{self, Turn};
use super::subscriptions::{milliseconds, status_of};
use super::{
    Fault, Handled, Request, check_count, check_timestamps, decode, encode, read, read_item,
};
use crate::address_space::View;
use crate::connection::Connection;
use crate::server::Server;
use crate::session::Session;
use crate::subscriptions::filter::Filter;
use crate::subscriptions::item::{MonitoredItem, Parameters};
use crate::subscriptions::load::{Allotment, Load};
use crate::subscriptions::sampler::Sampler;
use crate::subscriptions::{Now, Subscription, revise};

/// Units of work for one item.
const ITEM: u64 = 10;

/// Handles a CreateMonitoredItems request.
pub(crate) fn create(
    request: &Request<'_>,
    connection: &Connection,
    session: &Arc<Session>,
    mut body: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let create = Create {
        subscription_id: body.u32()?,
        timestamps: TimestampsToReturn(body.i32()?),
        allotment: None,
    };
    let limits = &request.server.limits.operations;
    let items = Items::take(request, &mut body, limits.max_monitored_items_per_call)?;
    check_timestamps(create.timestamps)?;
    let service = List::new(create, items);
    slices::start(request, connection, session, service, response)
}

struct Create {
    subscription_id: u32,
    timestamps: TimestampsToReturn,
    /// What the items may take of the sampling budget: decided for all of them at once.
    allotment: Option<Allotment>,
}

impl Operations for Create {
    type Item = MonitoredItemCreateRequest;
    /// A MonitoredItemCreateResult without a FilterResult.
    const RESULT_SIZE: usize = 23;

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
            let mut sampler = Sampler::new(server, now.date_time);
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
                                sampler.sample(&item);
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

fn check_items(request: &Request<'_>, count: usize) -> Result<(), Fault> {
    let limits = &request.server.limits.operations;
    check_count(count, limits.max_monitored_items_per_call)
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
    let range = check_watched(server, &view, &watched)?;
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

/// Whether there is what the client wants to watch. Whether it can be read now is told with the values (OPC 10000-4,
/// 5.13.2.1).
fn check_watched(
    server: &Server,
    view: &View<'_>,
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
            let value = read::value_of(server, &whole, now).value;
            read_item::check_encoding(&watched.data_encoding.as_ref(), value.as_ref())?;
        }
    } else {
        attribute(&node, watched.attribute_id)?;
        if !watched.data_encoding.as_ref().is_null() {
            return Err(StatusCode::BadDataEncodingInvalid);
        }
        if watched.attribute_id == EVENT_NOTIFIER {
            // That attribute stands for Events, which this server does not have.
            return Err(StatusCode::BadMonitoredItemFilterUnsupported);
        }
    }
    Ok(range)
}

/// The parameters as they will be.
fn parameters(
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

/// Handles a ModifyMonitoredItems request.
pub(crate) fn modify(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let modify: ModifyMonitoredItemsRequest = decode(structure)?;
    check_items(request, modify.items_to_modify.len())?;
    check_timestamps(modify.timestamps_to_return)?;
    let server = request.server;
    let now = Now::get();
    let results = server.subscriptions.with(|engine| {
        let mut allotment = engine.allotment(&session.id, modify.items_to_modify.len());
        let subscription = engine.subscription(&session.id, modify.subscription_id)?;
        subscription.machine.reset_lifetime();
        let timestamps = modify.timestamps_to_return;
        let items = modify.items_to_modify.iter();
        let results = items
            .map(|item| modify_item(server, subscription, &mut allotment, item, timestamps))
            .map(|result| {
                result.unwrap_or_else(|status_code| MonitoredItemModifyResult {
                    status_code,
                    ..MonitoredItemModifyResult::default()
                })
            })
            .collect();
        let changed = modify.items_to_modify.iter();
        let changed: Vec<_> = changed.map(|item| item.monitored_item_id).collect();
        subscription.settle(&changed, now.instant);
        Ok::<_, StatusCode>(results)
    })?;
    encode(
        &ModifyMonitoredItemsResponse {
            response_header: request.response_header(),
            results,
            ..ModifyMonitoredItemsResponse::default()
        },
        response,
    )
}

fn modify_item(
    server: &Server,
    subscription: &Subscription,
    allotment: &mut Allotment,
    modify: &MonitoredItemModifyRequest,
    timestamps: TimestampsToReturn,
) -> Result<MonitoredItemModifyResult, StatusCode> {
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
    item.modify(parameters);
    Ok(result)
}

/// Handles a SetMonitoringMode request.
pub(crate) fn set_monitoring_mode(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let set: SetMonitoringModeRequest = decode(structure)?;
    check_items(request, set.monitored_item_ids.len())?;
    if !(0..=2).contains(&set.monitoring_mode.0) {
        return Err(Fault(StatusCode::BadMonitoringModeInvalid));
    }
    let server = request.server;
    let now = Now::get();
    let results = server.subscriptions.with(|engine| {
        let subscription = engine.subscription(&session.id, set.subscription_id)?;
        subscription.machine.reset_lifetime();
        let mut sampler = Sampler::new(server, now.date_time);
        let mut results = Vec::with_capacity(set.monitored_item_ids.len());
        for id in &set.monitored_item_ids {
            results.push(match subscription.item(*id) {
                Ok(item) => {
                    let begins = !item.is_sampled();
                    item.set_mode(set.monitoring_mode);
                    if begins && set.monitoring_mode != MonitoringMode::Disabled {
                        sampler.sample(item);
                    }
                    StatusCode::Good
                }
                Err(status) => status,
            });
        }
        sampler.finish();
        subscription.settle(&set.monitored_item_ids, now.instant);
        Ok::<_, StatusCode>(results)
    })?;
    encode(
        &SetMonitoringModeResponse {
            response_header: request.response_header(),
            results,
            ..SetMonitoringModeResponse::default()
        },
        response,
    )
}

/// Handles a SetTriggering request. Links are removed before others are added (OPC 10000-4, 5.13.5.2).
pub(crate) fn set_triggering(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let set: SetTriggeringRequest = decode(structure)?;
    check_items(request, set.links_to_add.len() + set.links_to_remove.len())?;
    let (add_results, remove_results) = request.server.subscriptions.with(|engine| {
        let subscription = engine.subscription(&session.id, set.subscription_id)?;
        subscription.machine.reset_lifetime();
        let triggering = Arc::clone(subscription.item(set.triggering_item_id)?);
        let unlink = |id: &u32| match subscription.item(*id) {
            Ok(item) if triggering.unlink(item) => StatusCode::Good,
            Ok(_) => StatusCode::BadMonitoredItemIdInvalid,
            Err(status) => status,
        };
        let removed: Vec<_> = set.links_to_remove.iter().map(unlink).collect();
        let link = |id: &u32| {
            status_of(
                subscription
                    .item(*id)
                    .and_then(|item| triggering.link(item)),
            )
        };
        let added: Vec<_> = set.links_to_add.iter().map(link).collect();
        Ok::<_, StatusCode>((added, removed))
    })?;
    encode(
        &SetTriggeringResponse {
            response_header: request.response_header(),
            add_results,
            remove_results,
            ..SetTriggeringResponse::default()
        },
        response,
    )
}

/// Handles a DeleteMonitoredItems request.
pub(crate) fn delete(
    request: &Request<'_>,
    session: &Arc<Session>,
    structure: Decoder<'_>,
    response: &mut Encoder<'_>,
) -> Handled {
    let delete: DeleteMonitoredItemsRequest = decode(structure)?;
    check_items(request, delete.monitored_item_ids.len())?;
    let now = Now::get();
    let results = request.server.subscriptions.with(|engine| {
        let subscription = engine.subscription(&session.id, delete.subscription_id)?;
        subscription.machine.reset_lifetime();
        let ids = delete.monitored_item_ids.iter();
        let results = ids.map(|id| status_of(subscription.remove(*id))).collect();
        subscription.settle(&[], now.instant);
        Ok::<_, StatusCode>(results)
    })?;
    encode(
        &DeleteMonitoredItemsResponse {
            response_header: request.response_header(),
            results,
            ..DeleteMonitoredItemsResponse::default()
        },
        response,
    )
}
