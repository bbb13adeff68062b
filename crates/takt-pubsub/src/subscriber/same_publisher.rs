//! Comparison of PublisherIds.

use takt_wire::PublisherIdRef;

/// Compares PublisherIds. UIntegers of different sizes are the same if their values are.
pub(crate) fn same_publisher(wanted: PublisherIdRef<'_>, found: PublisherIdRef<'_>) -> bool {
    let number = |id| match id {
        PublisherIdRef::Byte(id) => Some(u64::from(id)),
        PublisherIdRef::UInt16(id) => Some(u64::from(id)),
        PublisherIdRef::UInt32(id) => Some(u64::from(id)),
        PublisherIdRef::UInt64(id) => Some(id),
        PublisherIdRef::String(_) => None,
    };
    match (number(wanted), number(found)) {
        (Some(wanted), Some(found)) => wanted == found,
        _ => wanted == found,
    }
}
