//! CreateMonitoredItems (OPC 10000-4, 5.13.2).

use std::sync::Arc;

use takt_space::{Caller, NodeRef, Value, View};
use takt_ua::binary::Decoder;
use takt_ua::enumerations::{MonitoringMode, PermissionType, TimestampsToReturn};
use takt_ua::structures::{MonitoredItemCreateRequest, MonitoredItemCreateResult, ReadValueId};
use takt_ua::{NumericRange, StatusCode, VariantRef, ids};

use super::item_changes::{Change, Changing, items};
use super::item_parameters::Revision;
use super::request::{Request, check_timestamps};
use super::sliced::operation_list::Items;
use super::subscriptions::milliseconds;
use crate::events::filter::RefusedFilter;
use crate::identity::access;
use crate::reading::attributes::{EVENT_NOTIFIER, VALUE, attribute};
use crate::reading::check_encoding;
use crate::reading::value_of;
use crate::responses::fault::Fault;
use crate::server::Server;
use crate::session::Session;
use crate::subscriptions::event_items::EventItems;
use crate::subscriptions::item::{MonitoredItem, Parameters};
use crate::subscriptions::load::Load;
use crate::subscriptions::{Engine, Now, Subscription};

/// Bit SubscribeToEvents of the attribute EventNotifier (OPC 10000-3, 8.59).
const SUBSCRIBE_TO_EVENTS: u8 = 1;

/// A CreateMonitoredItems request.
pub(super) struct Create {
    revision: Revision,
    /// Number of items that may still be added in this slice.
    room: usize,
}

impl Change for Create {
    type Item = MonitoredItemCreateRequest;
    type Result = MonitoredItemCreateResult;
    const RESPONSE: u32 = ids::CREATE_MONITORED_ITEMS_RESPONSE_ENCODING_DEFAULT_BINARY;
    /// Size without a FilterResult.
    const RESULT_SIZE: usize = 23;

    fn parse(
        request: &Request<'_>,
        body: &mut Decoder<'_>,
    ) -> Result<(Self, Items<MonitoredItemCreateRequest>), Fault> {
        let timestamps = TimestampsToReturn(body.i32()?);
        let items = items(request, body)?;
        check_timestamps(timestamps)?;
        let create = Self {
            revision: Revision::new(timestamps),
            room: 0,
        };
        Ok((create, items))
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

    fn begin_slice(&mut self, engine: &mut Engine, subscription_id: u32, now: Now) {
        // Between two slices, other requests may have added items.
        self.room = engine.room_for_items(subscription_id, now);
    }

    fn change(
        &mut self,
        changing: &mut Changing<'_, '_>,
        item: MonitoredItemCreateRequest,
    ) -> MonitoredItemCreateResult {
        match self.create(changing, item) {
            Ok((item, result)) => {
                // `create` has refused an item without room.
                self.room -= 1;
                if item.is_sampled() {
                    // The client gets the first value with the next publishing interval, not after a sampling interval.
                    let owner = &changing.subscription.owner;
                    changing.sampler.sample(&item, owner);
                }
                changing.subscription.add(item, changing.now);
                result
            }
            Err(refused) => MonitoredItemCreateResult {
                status_code: refused.status,
                filter_result: refused.encoded(),
                ..MonitoredItemCreateResult::default()
            },
        }
    }
}

impl Create {
    fn create(
        &mut self,
        changing: &mut Changing<'_, '_>,
        create: MonitoredItemCreateRequest,
    ) -> Result<(Arc<MonitoredItem>, MonitoredItemCreateResult), RefusedFilter> {
        if self.room == 0 {
            return Err(StatusCode::BadTooManyMonitoredItems.into());
        }
        if !(0..=2).contains(&create.monitoring_mode.0) {
            return Err(StatusCode::BadMonitoringModeInvalid.into());
        }
        let watched = create.item_to_monitor;
        let (server, subscription) = (changing.server, &mut *changing.subscription);
        let view = server.space.view();
        let range = check_watched(server, &view, &subscription.owner, &watched)?;
        let (parameters, filter_result) = self.revision.parameters(
            server,
            &view,
            subscription,
            &watched,
            &create.requested_parameters,
            Load::default(),
        )?;
        let result = MonitoredItemCreateResult {
            status_code: StatusCode::Good,
            monitored_item_id: subscription.next_item_id(),
            revised_sampling_interval: milliseconds(parameters.sampling.interval),
            revised_queue_size: parameters.queue_size,
            filter_result,
        };
        let new = NewItem {
            id: result.monitored_item_id,
            watched,
            range,
            mode: create.monitoring_mode,
            parameters,
        };
        let events = (&changing.event_items, changing.is_auditor);
        Ok((new.make(subscription, events)?, result))
    }
}

/// Checked parts of a new item.
pub(super) struct NewItem {
    pub(super) id: u32,
    pub(super) watched: ReadValueId,
    pub(super) range: Option<NumericRange>,
    pub(super) mode: MonitoringMode,
    pub(super) parameters: Parameters,
}

impl NewItem {
    /// Makes the item for a Subscription. It gets Events from now on, if it monitors Events.
    ///
    /// # Errors
    /// `BadTooManyMonitoredItems` if there is no memory for it.
    pub(super) fn make(
        self,
        subscription: &Subscription,
        (event_items, is_auditor): (&Arc<EventItems<MonitoredItem>>, bool),
    ) -> Result<Arc<MonitoredItem>, StatusCode> {
        let memory = MonitoredItem::memory(&self.watched) + self.parameters.memory();
        let charge = subscription.memory.charge(memory);
        let charge = charge.map_err(|_| StatusCode::BadTooManyMonitoredItems)?;
        let key = (subscription.id, self.id);
        let is_for_events = self.parameters.events.is_some();
        let place = is_for_events.then(|| event_items.place(key, is_auditor));
        let ready = match is_for_events {
            true => &subscription.ready_events,
            false => &subscription.ready,
        };
        let item = Arc::new(MonitoredItem::new(
            self.id,
            self.watched,
            self.range,
            self.mode,
            self.parameters,
            (Arc::clone(ready), place),
            charge,
        ));
        if is_for_events {
            event_items.add(key, &item, is_auditor);
        }
        Ok(item)
    }
}

/// Checks that a node is a notifier of Events, and that the caller may receive them.
pub(super) fn check_notifier(caller: &Caller, node: &NodeRef<'_>) -> Result<(), StatusCode> {
    let notifier = attribute(caller, node, EVENT_NOTIFIER)?;
    let bits = match notifier {
        VariantRef::Byte(bits) => bits,
        _ => 0,
    };
    if bits & SUBSCRIBE_TO_EVENTS == 0 {
        return Err(StatusCode::BadAttributeIdInvalid);
    }
    access::check(caller, node, PermissionType::ReceiveEvents)
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
        access::check(caller, &node, PermissionType::Read)?;
        // The encoding of a value that is answered later is checked with each sample.
        let is_remote = matches!(node.value(), Some(Value::Remote(_)));
        if !watched.data_encoding.as_ref().is_null() && !is_remote {
            let whole = ReadValueId {
                index_range: takt_ua::UaString::default(),
                data_encoding: takt_ua::QualifiedName::default(),
                ..watched.clone()
            };
            let now = takt_ua::DateTime::now();
            let value = value_of(view, caller, &whole, now, server.budgets.max_response_size).value;
            check_encoding(&watched.data_encoding.as_ref(), value.as_ref())?;
        }
    } else {
        attribute(caller, &node, watched.attribute_id)?;
        if !watched.data_encoding.as_ref().is_null() {
            return Err(StatusCode::BadDataEncodingInvalid);
        }
        if watched.attribute_id == EVENT_NOTIFIER {
            check_notifier(caller, &node)?;
        }
    }
    Ok(range)
}
