//! Addresses of a scenario's flows and devices. All are functions of the scenario.

use takt_link::MacAddress;
use takt_scenario::{ApplicationIndex, FlowSource, PortIndex};

/// Returns the Ethernet group of an application's messages: `there` to its loopback, or back. Each application has two groups from
/// `01-00-5E-00-54-01` on.
#[must_use]
pub(crate) fn group(application: usize, there: bool) -> MacAddress {
    let number = 2 * application + if there { 1 } else { 2 };
    let [high, low] = low_bytes(number);
    MacAddress([0x01, 0x00, 0x5E, 0x00, 0x54_u8.wrapping_add(high), low])
}

/// Returns the PublisherIds of an application: that of its Publisher, and that of its loopback.
#[must_use]
pub fn publisher_ids(application: usize) -> (u64, u64) {
    let application = ApplicationIndex(application);
    let id = |source: FlowSource| source.publisher_id().unwrap_or_default();
    (
        id(FlowSource::Publish(application)),
        id(FlowSource::Return(application)),
    )
}

/// Returns the destination address of the frames of a flow. It is unique in a scenario, so bridges forward each flow on its own path.
#[must_use]
pub fn flow_address(source: FlowSource) -> MacAddress {
    match source {
        FlowSource::Publish(application) => group(application.0, true),
        FlowSource::Return(application) => group(application.0, false),
        FlowSource::Cross(flow) => {
            let [high, low] = low_bytes(flow.0 + 1);
            // 02 is the beginning of locally administered addresses. The third byte tells flows from devices.
            MacAddress([0x02, 0x54, 0x4C, 0x00, high, low])
        }
    }
}

/// Returns the address of the device of a port.
#[must_use]
pub fn device_address(port: PortIndex) -> MacAddress {
    let [high, low] = low_bytes(port.0 + 1);
    MacAddress([0x02, 0x54, 0x4B, 0x00, high, low])
}

/// Returns the low 16 bits of a number, high byte first.
fn low_bytes(number: usize) -> [u8; 2] {
    let [.., high, low] = number.to_be_bytes();
    [high, low]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use takt_scenario::CrossTrafficIndex;

    use super::*;

    #[test]
    fn the_first_application_has_the_addresses_of_the_command_line() {
        let first = ApplicationIndex(0);
        let there = flow_address(FlowSource::Publish(first));
        assert_eq!(there, MacAddress([0x01, 0x00, 0x5E, 0x00, 0x54, 0x01]));
        let back = flow_address(FlowSource::Return(first));
        assert_eq!(back, MacAddress([0x01, 0x00, 0x5E, 0x00, 0x54, 0x02]));
        assert_eq!(publisher_ids(0), (1, 2));
    }

    #[test]
    fn no_address_occurs_twice() {
        let mut addresses = HashSet::new();
        for index in 0..1000 {
            let application = ApplicationIndex(index);
            for source in [
                FlowSource::Publish(application),
                FlowSource::Return(application),
                FlowSource::Cross(CrossTrafficIndex(index)),
            ] {
                assert!(addresses.insert(flow_address(source)), "{source:?}");
            }
            assert!(addresses.insert(device_address(PortIndex(index))));
        }
    }
}
