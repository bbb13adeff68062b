//! Addresses of a scenario's flows and devices. All are functions of the scenario.

use takt_link::MacAddress;
use takt_scenario::{ApplicationIndex, FlowSource, PortIndex, Scenario};

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
/// The ways to several subscribers have one address: bridges replicate its frames.
#[must_use]
pub fn flow_address(scenario: &Scenario, source: FlowSource) -> MacAddress {
    let application = |id: ApplicationIndex| scenario.applications.get(id.0);
    match source {
        FlowSource::Publish(id) | FlowSource::Branch(id, _) => {
            MacAddress(application(id).map_or([0; 6], |it| it.group))
        }
        FlowSource::Return(id) => MacAddress(application(id).map_or([0; 6], |it| it.return_group)),
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
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::HashSet;

    use takt_scenario::CrossTrafficIndex;

    use super::*;

    /// Returns a scenario with so many applications and flows of cross traffic. `fields` are those of each application.
    fn scenario(count: usize, fields: &str) -> Scenario {
        let text = (0..count).map(|index| {
            format!(
                "[[applications]]\nname = \"a{index}\"\npublisher = \"host1\"\ncycle = \"1 s\"\n\
                 payload = \"50 B\"\n{fields}\n\
                 [[cross_traffic]]\nname = \"x{index}\"\nfrom = \"host1\"\nto = \"host2\"\n\
                 payload = \"50 B\"\ninterval = \"1 s\"\n"
            )
        });
        let text: String = text.collect();
        let text = format!("version = 1\ntopology = {{ kind = \"star\", hosts = 3 }}\n{text}");
        Scenario::parse(&text, "addresses.toml").unwrap()
    }

    const LOOPBACK: &str = "loopback = \"host2\"";

    #[test]
    fn the_first_application_has_the_addresses_of_the_command_line() {
        let scenario = scenario(1, LOOPBACK);
        let first = ApplicationIndex(0);
        let there = flow_address(&scenario, FlowSource::Publish(first));
        assert_eq!(there, MacAddress([0x01, 0x00, 0x5E, 0x00, 0x54, 0x01]));
        let back = flow_address(&scenario, FlowSource::Return(first));
        assert_eq!(back, MacAddress([0x01, 0x00, 0x5E, 0x00, 0x54, 0x02]));
        assert_eq!(publisher_ids(0), (1, 2));
    }

    #[test]
    fn no_address_occurs_twice() {
        let mut addresses = HashSet::new();
        let scenario = scenario(300, LOOPBACK);
        for index in 0..300 {
            let application = ApplicationIndex(index);
            for source in [
                FlowSource::Publish(application),
                FlowSource::Return(application),
                FlowSource::Cross(CrossTrafficIndex(index)),
            ] {
                assert!(
                    addresses.insert(flow_address(&scenario, source)),
                    "{source:?}"
                );
            }
            assert!(addresses.insert(device_address(PortIndex(index))));
        }
    }

    #[test]
    fn all_subscribers_have_the_group_of_the_file() {
        let fields = "subscribers = [\"host2\", \"host3\"]\ngroup = \"03-00-00-00-00-07\"";
        let scenario = scenario(1, fields);
        for source in [
            FlowSource::Publish(ApplicationIndex(0)),
            FlowSource::Branch(ApplicationIndex(0), 1),
        ] {
            assert_eq!(
                flow_address(&scenario, source),
                MacAddress([3, 0, 0, 0, 0, 7])
            );
        }
    }
}
