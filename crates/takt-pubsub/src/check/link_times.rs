//! Launch times and times of reception.

use takt_link::Address;
use takt_ua::structures::{PubSubConnectionDataType, WriterGroupDataType};

use super::mistake::Place;
use crate::link_times::{LAUNCH_MODES, LAUNCH_TIMES, RECEIVE_CLOCKS, RECEIVE_TIMES, word_property};

/// Checks the launch times of a WriterGroup.
pub(super) fn check_launch_times(
    place: &mut Place<'_>,
    group: &WriterGroupDataType,
    address: Option<&Address>,
) {
    let key = "launch_times";
    match word_property(&group.group_properties, LAUNCH_TIMES, LAUNCH_MODES) {
        Ok(None) => {}
        Ok(Some(_)) => refuse_others(place, key, address),
        Err(_) => place.error(
            key,
            "is neither \"strict\" nor \"deadline\"",
            "Write the mode of ETF at the port",
        ),
    }
}

/// Checks the times of reception of a connection.
pub(super) fn check_receive_times(
    place: &mut Place<'_>,
    connection: &PubSubConnectionDataType,
    address: Option<&Address>,
) {
    let key = "receive_times";
    let properties = &connection.connection_properties;
    match word_property(properties, RECEIVE_TIMES, RECEIVE_CLOCKS) {
        Ok(None) => {}
        Ok(Some(_)) => refuse_others(place, key, address),
        Err(_) => place.error(
            key,
            "is neither \"software\" nor \"hardware\"",
            "Write the clock: that of the kernel, or of the network card",
        ),
    }
}

/// Reports an address whose link has no such times.
fn refuse_others(place: &mut Place<'_>, key: &'static str, address: Option<&Address>) {
    let has_times =
        |address: &Address| matches!(address, Address::Udp { .. } | Address::Ethernet { .. });
    if address.is_some_and(|address| !has_times(address)) {
        place.error(
            key,
            "the address has no such times",
            "Remove it, or use an opc.udp:// or opc.eth:// address",
        );
    }
}
