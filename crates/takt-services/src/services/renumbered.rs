//! Durable Subscriptions with the NamespaceIndexes of another run of the server.
//!
//! The same namespace may have another index after a restart, for example if the model is another one (OPC 10000-3, 8.2.2).

use std::sync::Arc;

use takt_ua::binary::{Decode, DecodeError, Decoder, Encode};
use takt_ua::structures::{DataChangeNotification, EventNotificationList, NotificationMessage};
use takt_ua::{ExtensionObject, NamespaceMap, StatusCode, Variant};

use crate::reading::attributes::EVENT_NOTIFIER;
use crate::subscriptions::SavedSubscription;
use crate::subscriptions::item::SavedItem;
use crate::subscriptions::sample::Sample;

/// Replaces the indexes in NodeIds, filters and values. Messages that cannot be decoded are left out.
pub(super) fn renumber(saved: &mut SavedSubscription, map: &NamespaceMap) {
    saved
        .messages
        .retain_mut(|(_, message)| match renumbered_message(message, map) {
            Ok(renumbered) => {
                *message = renumbered;
                true
            }
            Err(_) => false,
        });
    for item in &mut saved.items {
        renumber_item(item, map);
    }
}

fn renumber_item(item: &mut SavedItem, map: &NamespaceMap) {
    let watched = &mut item.request.item_to_monitor;
    map.replace_node_id(&mut watched.node_id);
    map.replace_name(&mut watched.data_encoding);
    map.replace_filter(&mut item.request.requested_parameters.filter);
    if watched.attribute_id == EVENT_NOTIFIER {
        item.samples.retain_mut(|sample| {
            let fields = Vec::<Variant>::decode(&mut Decoder::new(&sample.value));
            let Ok(mut fields) = fields else {
                return false;
            };
            map.replace_all(&mut fields);
            sample.value = fields.encode_to_vec();
            true
        });
        return;
    }
    for sample in item.samples.iter_mut().chain(&mut item.last) {
        renumber_value(sample, map);
    }
}

fn renumber_value(sample: &mut Sample, map: &NamespaceMap) {
    if sample.value.is_empty() {
        return;
    }
    match Variant::decode(&mut Decoder::new(&sample.value)) {
        Ok(mut value) => {
            map.replace(&mut value);
            sample.value = value.encode_to_vec();
        }
        Err(_) => {
            // The NodeIds in such a value cannot be corrected: they would name other nodes.
            sample.value.clear();
            sample.status = StatusCode::BadDecodingError;
        }
    }
}

fn renumbered_message(message: &[u8], map: &NamespaceMap) -> Result<Arc<[u8]>, DecodeError> {
    let mut message = NotificationMessage::decode(&mut Decoder::new(message))?;
    for data in &mut message.notification_data {
        if data.is::<DataChangeNotification>() {
            let mut changes: DataChangeNotification = data.decode_as()?;
            let items = changes.monitored_items.iter_mut();
            for value in items.filter_map(|item| item.value.value.as_mut()) {
                map.replace(value);
            }
            *data = ExtensionObject::from_structure(&changes);
        } else if data.is::<EventNotificationList>() {
            let mut events: EventNotificationList = data.decode_as()?;
            for event in &mut events.events {
                map.replace_all(&mut event.event_fields);
            }
            *data = ExtensionObject::from_structure(&events);
        }
    }
    Ok(message.encode_to_vec().into())
}
