//! Processes beside the followers of a plant: Publisher, Subscriber, a client that is killed, and the history of the registry.

use std::process::Command;

use takt_app::{Client, ClientOptions, DateTime, HistoryRange};
use takt_tests::process::Process;

use super::case::LIMIT;
use super::plant::{CONSTANT, Plant, waited_for};

/// Configuration of the Publisher: 20 messages a second, at an offset into the intervals of CLOCK_TAI.
const PUBLISHER: &str = r#"
namespaces = ["http://opcfoundation.org/UA/", "urn:takt:provider:PROVIDER"]
[[published_data_sets]]
name = "Spindle"
fields = [{ name = "Setpoint", data_type = "Double", published_variable = "ns=1;s=Spindle/SpeedSetpoint" }]
[[connections]]
name = "UDP"
publisher_id = 5
address = "opc.udp://127.0.0.1:PORT"
[[connections.writer_groups]]
name = "Group"
writer_group_id = 1
publishing_interval = "50ms"
header_layout = "UADP-Periodic-Fixed"
uadp = { group_version = 1, publishing_offset = ["2ms"] }
[[connections.writer_groups.data_set_writers]]
name = "Spindle"
data_set_writer_id = 1
data_set_name = "Spindle"
"#;

/// Configuration of the Subscriber.
const SUBSCRIBER: &str = r#"
[[connections]]
name = "UDP"
address = "opc.udp://127.0.0.1:PORT"
[[connections.reader_groups]]
name = "Group"
[[connections.reader_groups.data_set_readers]]
name = "Spindle"
publisher_id = 5
writer_group_id = 1
data_set_writer_id = 1
header_layout = "UADP-Periodic-Fixed"
uadp = { group_version = 1, network_message_number = 1, publishing_interval = "50ms" }
fields = [{ name = "Setpoint", data_type = "Double", target_node_id = "ns=1;s=Setpoint" }]
"#;

/// Starts `takt watch` over TCP.
pub(super) fn visitor(plant: &Plant) -> Process {
    let node = format!("ns=1;s={CONSTANT}");
    let arguments = ["watch", &plant.to_provider.endpoint, &node];
    Process::spawn("visitor", &mut plant.sandbox.takt(&arguments))
}

/// Starts a Publisher of the Provider's values, by the clock of the plant.
pub(super) fn publisher(plant: &Plant, port: u16) -> Process {
    let from = format!("opc.iox2://{}", plant.provider_name);
    let mut command = pub_sub(plant, ("publish", PUBLISHER), port);
    command.args(["--from", &from]);
    if let Some(clock) = &plant.clock {
        clock.apply(&mut command);
    }
    Process::spawn("takt publish", &mut command)
}

/// Starts a Subscriber of what is published.
pub(super) fn subscriber(plant: &Plant, port: u16) -> Process {
    let mut command = pub_sub(plant, ("subscribe", SUBSCRIBER), port);
    Process::spawn("takt subscribe", &mut command)
}

fn pub_sub(plant: &Plant, (verb, text): (&str, &str), port: u16) -> Command {
    let file = plant.sandbox.data_directory().join(format!("{verb}.toml"));
    let text = text.replace("PORT", &port.to_string());
    let text = text.replace("PROVIDER", &plant.provider_name);
    std::fs::write(&file, text).unwrap();
    plant
        .sandbox
        .takt(&[verb, file.to_str().unwrap(), "--json"])
}

/// Checks that the history of the registry can be read, and has values in the order of their times.
pub(super) fn check_history(plant: &Plant) {
    let node = plant.nodes(&plant.provider_name).changing;
    let endpoint = format!("opc.iox2://{}", plant.registry_name);
    let options = ClientOptions {
        timeout: LIMIT,
        ..plant.options()
    };
    let mut client = Client::connect(&endpoint.parse().unwrap(), options).unwrap();
    let all = HistoryRange {
        start: Some(DateTime(1)),
        end: Some(DateTime(i64::MAX)),
        ..HistoryRange::default()
    };
    // A Provider or a registry that has just started again records soon.
    let values = waited_for(|| {
        client
            .history_raw(&node, all)
            .ok()
            .filter(|it| it.len() > 10)
    });
    assert!(values.is_sorted_by_key(|value| value.source_timestamp));
}
