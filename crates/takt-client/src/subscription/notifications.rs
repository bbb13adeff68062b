//! Content of NotificationMessages: one value that cannot be decoded is one bad value (`takt_ua::foreign`).

use takt_ua::binary::{Decode, DecodeError, Decoder};
use takt_ua::structures::{DataChangeNotification, EventNotificationList};
use takt_ua::{DiagnosticInfo, ExtensionObject, foreign};

use super::change::DataChange;
use super::event::EventNotification;

/// Notifications of one list.
pub(super) struct Notifications<T> {
    pub(super) list: Vec<T>,
    /// Number of notifications after the last one of the list, whose end is not known: they cannot be decoded.
    pub(super) missing: usize,
}

/// Returns the changes of a DataChangeNotification; `None` for another structure.
pub(super) fn data_changes(
    object: &ExtensionObject,
) -> Option<Result<Notifications<DataChange>, DecodeError>> {
    foreign::decode_body::<DataChangeNotification, _>(object, |decoder| {
        let list = list(decoder, |decoder| {
            Ok(DataChange {
                client_handle: decoder.u32()?,
                value: decoder.value()?,
            })
        })?;
        Vec::<DiagnosticInfo>::decode(decoder)?;
        Ok(list)
    })
}

/// Returns the Events of an EventNotificationList; `None` for another structure.
pub(super) fn events(
    object: &ExtensionObject,
) -> Option<Result<Notifications<EventNotification>, DecodeError>> {
    foreign::decode_body::<EventNotificationList, _>(object, |decoder| {
        list(decoder, |decoder| {
            Ok(EventNotification {
                client_handle: decoder.u32()?,
                fields: decoder.value()?,
            })
        })
    })
}

fn list<'a, T>(
    decoder: &mut Decoder<'a>,
    decode: impl Fn(&mut Decoder<'a>) -> Result<T, DecodeError>,
) -> Result<Notifications<T>, DecodeError> {
    // A handle and a list or a DataValue.
    let count = decoder.array_length(5)?.unwrap_or(0);
    let mut list = Vec::new();
    while list.len() < count && !decoder.is_lost() {
        list.push(decode(decoder)?);
    }
    Ok(Notifications {
        missing: count - list.len(),
        list,
    })
}

#[cfg(test)]
mod tests {
    use takt_ua::binary::Encode;
    use takt_ua::structures::{EventFieldList, MonitoredItemNotification};
    use takt_ua::{DataValue, ExtensionObjectBody, StatusCode, Variant};

    use super::*;

    /// Three changes, the second one with this text. The values before and after it are numbers.
    fn changed(text: &str) -> ExtensionObject {
        let values = [Variant::from(1.0), Variant::from(text), Variant::from(3.0)];
        let items = (1..)
            .zip(values)
            .map(|(client_handle, value)| MonitoredItemNotification {
                client_handle,
                value: DataValue::good(value),
            });
        ExtensionObject::from_structure(&DataChangeNotification {
            monitored_items: items.collect(),
            ..DataChangeNotification::default()
        })
    }

    /// Replaces the only occurrence of `old` in the body.
    fn with(mut object: ExtensionObject, old: &[u8], new: &[u8]) -> ExtensionObject {
        let ExtensionObjectBody::Binary(body) = &mut object.body else {
            panic!("no binary body");
        };
        let at = body
            .windows(old.len())
            .position(|part| part == old)
            .unwrap();
        body.splice(at..at + old.len(), new.iter().copied());
        object
    }

    fn statuses(object: &ExtensionObject) -> (Vec<(u32, StatusCode)>, usize) {
        let changes = data_changes(object).unwrap().unwrap();
        let list = changes.list.iter();
        let list = list.map(|change| (change.client_handle, change.value.status_code()));
        (list.collect(), changes.missing)
    }

    #[test]
    fn a_bad_change_leaves_the_others() {
        let (good, bad) = (StatusCode::Good, StatusCode::BadDecodingError);
        // A Variant in a Variant: mask 24, then a Byte.
        let nested = with(changed("text"), b"\x0C\x04\0\0\0text", b"\x18\x03\x07");
        assert_eq!(statuses(&nested), (vec![(1, good), (2, bad), (3, good)], 0));
        let latin = with(changed("Kochler"), b"ochler", b"\xFCchler");
        let changes = data_changes(&latin).unwrap().unwrap();
        let expected = Some(Variant::from("K\u{FFFD}chler"));
        assert_eq!(changes.list[1].value.value, expected);
        assert_eq!(statuses(&latin).0[2], (3, good));
    }

    #[test]
    fn changes_after_one_without_an_end_are_counted() {
        // A type that the standard does not define.
        let unknown = with(changed("text"), b"\x0C\x04\0\0\0text", b"\x20\x03\x07");
        let (good, bad) = (StatusCode::Good, StatusCode::BadDecodingError);
        assert_eq!(statuses(&unknown), (vec![(1, good), (2, bad)], 1));
    }

    #[test]
    fn a_bad_field_leaves_the_event() {
        let event = |client_handle| EventFieldList {
            client_handle,
            event_fields: vec!["a".into(), "text".into(), 7_u16.into()],
        };
        let list = EventNotificationList {
            events: vec![event(4), event(5)],
        };
        let object = ExtensionObject::from_structure(&list);
        let first = b"\x0C\x01\0\0\0a\x0C\x04\0\0\0text";
        let decoded = |new: &[u8]| {
            // Only the first Event: the second one has another number of fields then.
            let body = list.encode_to_vec();
            let at = body
                .windows(first.len())
                .position(|part| part == first)
                .unwrap();
            let mut object = object.clone();
            let mut changed = body.clone();
            changed.splice(at + 6..at + first.len(), new.iter().copied());
            object.body = ExtensionObjectBody::Binary(changed);
            let events = events(&object).unwrap().unwrap();
            (events.list, events.missing)
        };
        let (events, missing) = decoded(b"\x18\x03\x07");
        let bad = Variant::from(StatusCode::BadDecodingError);
        assert_eq!(events[0].fields, ["a".into(), bad.clone(), 7_u16.into()]);
        assert_eq!(events[1].fields, list.events[1].event_fields);
        assert_eq!(missing, 0);
        let (events, missing) = decoded(b"\x20\x03\x07");
        assert_eq!(events[0].fields[0], "a".into());
        assert_eq!(events[0].fields[1], bad);
        assert_eq!((events.len(), missing), (1, 1));
    }
}
