//! A configuration and a scenario that fit together.

use takt_pubsub::check::message_lengths;
use takt_pubsub::configuration::from_toml;
use takt_pubsub::monitor::WatchedFlows;
use takt_scenario::Scenario;
use takt_ua::structures::PubSubConfiguration2DataType;
use takt_watchdog::{WatchError, WatchOptions, watched_flows};

/// A press that publishes one Double every 10 ms, and a robot that receives it.
pub(crate) const CONFIGURATION: &str = r#"
[[published_data_sets]]
name = "Data"
fields = [{ name = "Speed", data_type = "Double", published_variable = "ns=1;s=Speed" }]

[[connections]]
name = "Out"
publisher_id = 5
address = "ADDRESS"

[[connections.writer_groups]]
name = "Spindle"
writer_group_id = 1
publishing_interval = "10ms"
header_layout = "UADP-Periodic-Fixed"

[[connections.writer_groups.data_set_writers]]
name = "Writer"
data_set_writer_id = 1
data_set_name = "Data"

[[connections]]
name = "In"
address = "ADDRESS"

[[connections.reader_groups]]
name = "Readers"

[[connections.reader_groups.data_set_readers]]
name = "Spindle"
publisher_id = 5
writer_group_id = 1
data_set_writer_id = 1
header_layout = "UADP-Periodic-Fixed"
uadp = { network_message_number = 1 }
fields = [{ name = "Speed", data_type = "Double" }]
"#;

pub(crate) const ETHERNET: &str = "opc.eth://01-00-5E-00-00-01:7.3";

const SCENARIO: &str = r#"
version = 1
discipline = "strict"
nodes = [
    { name = "press", wake_up_latency = "100 us" },
    { name = "bridge", kind = "bridge" },
    { name = "robot", wake_up_latency = { least = "10 us", most = "60 us" } },
]
links = [{ ends = ["press", "bridge"] }, { ends = ["bridge", "robot"] }]

[disciplines.strict]
scheduler = "mqprio"
classes = [{ name = "A", priorities = [3] }, { name = "B" }]

[[applications]]
name = "Spindle"
publisher = "press"
subscriber = "robot"
cycle = "10 ms"
payload = "46 B"
vlan = 7
pcp = 3
"#;

/// Returns the bytes of the message of the configuration.
pub(crate) fn length() -> usize {
    let configuration = configuration(&[]);
    let connection = &configuration.connections[0];
    let data_sets = &configuration.published_data_sets;
    let lengths = message_lengths(connection, &connection.writer_groups[0], data_sets);
    let [length] = lengths.unwrap()[..] else {
        panic!("several messages");
    };
    length
}

/// Returns the configuration with other texts.
pub(crate) fn configuration(replaced: &[(&str, &str)]) -> PubSubConfiguration2DataType {
    let text = with(CONFIGURATION, replaced).replace("ADDRESS", ETHERNET);
    from_toml(&text).unwrap().configuration
}

/// Returns the scenario with other texts.
pub(crate) fn scenario(replaced: &[(&str, &str)]) -> Scenario {
    Scenario::parse(&with(SCENARIO, replaced), "plant.toml").unwrap()
}

/// Returns the flows of a configuration and a scenario with other texts, by the usual options.
pub(crate) fn flows(
    of_configuration: &[(&str, &str)],
    of_scenario: &[(&str, &str)],
) -> Result<WatchedFlows, WatchError> {
    let options = WatchOptions::default();
    watched_flows(
        &configuration(of_configuration),
        &scenario(of_scenario),
        &options,
    )
}

fn with(text: &str, replaced: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (old, new) in replaced {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    text
}
