//! Encoding of NotificationMessages (OPC 10000-4, 7.26).

use std::sync::Arc;

use takt_ua::binary::{Encode, EncodeError, Encoder};
use takt_ua::structures::{DataChangeNotification, EventNotificationList, NotificationMessage};
use takt_ua::{DateTime, ExtensionObject, NodeIdRef, Structure};

use super::item::MonitoredItem;
use super::ready::Ready;
use super::room::Room;

/// Returns an encoded NotificationMessage with these Notifications.
pub(super) fn encoded(
    sequence_number: u32,
    publish_time: DateTime,
    notification_data: Vec<ExtensionObject>,
) -> Arc<[u8]> {
    let message = NotificationMessage {
        sequence_number,
        publish_time,
        notification_data,
    };
    message.encode_to_vec().into()
}

/// Content of a NotificationMessage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A DataChangeNotification (OPC 10000-4, 7.25.2).
    Values,
    /// An EventNotificationList (OPC 10000-4, 7.25.3).
    Events,
}

/// Encodes a NotificationMessage with the Notifications of the ready items. Returns their number.
pub(super) fn encode_notifications(
    kind: Kind,
    encoder: &mut Encoder<'_>,
    ready: &Ready<MonitoredItem>,
    (sequence_number, publish_time): (u32, DateTime),
    mut room: Room,
) -> Result<usize, EncodeError> {
    encoder.u32(sequence_number)?;
    publish_time.encode(encoder)?;
    encoder.array_length(Some(1))?;
    let type_id = match kind {
        Kind::Values => DataChangeNotification::BINARY_ENCODING_ID,
        Kind::Events => EventNotificationList::BINARY_ENCODING_ID,
    };
    NodeIdRef::numeric(0, type_id).encode(encoder)?;
    // The body is a ByteString; its length, and that of the array in it, are written later.
    encoder.u8(1)?;
    let length_at = encoder.position();
    encoder.i32(0)?;
    let count_at = encoder.position();
    encoder.i32(0)?;
    let mut count = 0;
    while room.notifications > 0 && encoder.position() < room.full {
        let Some(item) = ready.pop() else { break };
        let drained = item.drain(room, count == 0, encoder);
        count += drained;
        room.notifications -= drained;
        if drained == 0 && ready.is_any() {
            // The notification did not fit, and is the first of the next message.
            break;
        }
    }
    // Only a DataChangeNotification ends with DiagnosticInfos.
    if kind == Kind::Values {
        encoder.array_length(None)?;
    }
    let length = encoder.position() - count_at;
    encoder.patch_i32(length_at, i32::try_from(length).unwrap_or(i32::MAX));
    encoder.patch_i32(count_at, i32::try_from(count).unwrap_or(i32::MAX));
    Ok(count)
}

/// Bytes after the last notification: null DiagnosticInfos.
pub(super) const CLOSING: usize = 4;
