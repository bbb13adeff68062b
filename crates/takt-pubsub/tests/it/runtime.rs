//! Running configurations: threads, links, keys.

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use takt_cell::Cell;
use takt_pubsub::PublishError;
use takt_pubsub::publisher::WriterGroup;
use takt_pubsub::runtime::{KernelQueue, ProblemCause, PubSub, RuntimeOptions, StartError};
use takt_pubsub::subscriber::{ReceivedDataSet, SubscriberObserver};
use takt_ua::enumerations::{
    DataSetFieldContentMask, JsonNetworkMessageContentMask as JsonMask, MessageSecurityMode,
    PubSubState,
};
use takt_ua::structures::{
    DataSetWriterDataType, FieldTargetDataType, NetworkAddressUrlDataType,
    PubSubConfiguration2DataType, PubSubConnectionDataType, ReaderGroupDataType,
    TargetVariablesDataType,
};
use takt_ua::{BuiltInType, DateTime, ExtensionObject, NodeId, StatusCode, Variant};

use crate::pubsub::json::{DATA_SET_HEADER, HEADERS, setup as json_setup};
use crate::support::{Setup, now};

/// Longest wait for an expected event, which usually happens long before.
const PATIENCE: Duration = Duration::from_secs(60);

/// Observer that passes on the first field of each message.
struct Values(Sender<Variant>);

impl SubscriberObserver for Values {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        for (_, value) in received.fields().take(1) {
            // The receiver may be gone.
            let _ = self.0.send(value.value.unwrap_or_default());
        }
    }
}

/// Returns a configuration with a connection that sends to an address, and one that receives from it.
fn configuration(setup: &Setup, url: &str) -> PubSubConfiguration2DataType {
    let address = ExtensionObject::from_structure(&NetworkAddressUrlDataType {
        network_interface: "".into(),
        url: url.into(),
    });
    let connection = |name: &str| PubSubConnectionDataType {
        name: name.into(),
        address: address.clone(),
        ..setup.connection.clone()
    };
    PubSubConfiguration2DataType {
        enabled: true,
        published_data_sets: vec![setup.data_set.clone()],
        connections: vec![
            PubSubConnectionDataType {
                writer_groups: vec![setup.group.clone()],
                ..connection("Out")
            },
            PubSubConnectionDataType {
                reader_groups: vec![ReaderGroupDataType {
                    name: "Readers".into(),
                    enabled: true,
                    data_set_readers: vec![setup.reader.clone()],
                    ..ReaderGroupDataType::default()
                }],
                ..connection("In")
            },
        ],
        ..PubSubConfiguration2DataType::default()
    }
}

fn start(setup: &mut Setup, url: &str) -> (PubSub, Receiver<Variant>) {
    let (values, received) = channel();
    let configuration = configuration(setup, url);
    let mut observers = |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> {
        Box::new(Values(values.clone()))
    };
    let options = RuntimeOptions::default();
    let (source, target) = (&mut setup.cells, &mut setup.received);
    let running = PubSub::start(&configuration, source, target, &mut observers, &options).unwrap();
    (running, received)
}

fn wait_for(received: &Receiver<Variant>, wanted: &Variant) {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if received.recv_timeout(PATIENCE).unwrap() == *wanted {
            return;
        }
    }
    panic!("{wanted:?} was never received");
}

#[test]
fn a_value_goes_from_cell_to_cell_over_udp() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    let (running, received) = start(
        &mut setup,
        &format!("opc.udp://127.0.0.1:{}", takt_ports::reserve()),
    );
    wait_for(&received, &Variant::UInt32(1));
    let value = Variant::UInt32(77);
    setup
        .cell(0)
        .set(&value, StatusCode::Good, DateTime::now())
        .unwrap();
    wait_for(&received, &value);
    assert_eq!(setup.target(0).get().unwrap().value, Some(value));
    let group = running.writer_groups().next().unwrap();
    assert_eq!(
        (group.name.as_str(), group.state),
        ("Out/Group", PubSubState::Operational)
    );
    assert!(group.statistics.fixed > 0);
    let connection = running.connections().next().unwrap();
    assert!(connection.statistics.network_messages > 0);
    assert!(running.links_are_up());
    // The group is silent while it is disabled, until it is enabled again.
    assert!(running.set_writer_group_enabled("Out/Group", false));
    let quiet = Duration::from_millis(300);
    let deadline = Instant::now() + PATIENCE;
    while received.recv_timeout(quiet).is_ok() {
        assert!(Instant::now() < deadline, "it is not silent");
    }
    assert!(running.set_writer_group_enabled("Out/Group", true));
    wait_for(&received, &Variant::UInt32(77));
    assert!(!running.set_writer_group_enabled("Out/Other", true));
}

#[test]
fn multicast_reaches_the_members_of_the_group() {
    let mut setup = Setup::new(&[Variant::UInt32(5)]);
    let (values, received) = channel();
    let url = format!("opc.udp://239.255.42.1:{}", takt_ports::reserve());
    let mut configuration = configuration(&setup, &url);
    for connection in &mut configuration.connections {
        connection.address = ExtensionObject::from_structure(&NetworkAddressUrlDataType {
            network_interface: "127.0.0.1".into(),
            url: url.as_str().into(),
        });
    }
    let mut observers = |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> {
        Box::new(Values(values.clone()))
    };
    let options = RuntimeOptions::default();
    let (source, target) = (&mut setup.cells, &mut setup.received);
    let _running = PubSub::start(&configuration, source, target, &mut observers, &options).unwrap();
    wait_for(&received, &Variant::UInt32(5));
}

#[test]
fn protected_messages_begin_with_the_first_keys() {
    let mut setup = Setup::new(&[Variant::UInt32(9)]);
    setup.protect(MessageSecurityMode::SignAndEncrypt);
    let (running, received) = start(
        &mut setup,
        &format!("opc.udp://127.0.0.1:{}", takt_ports::reserve()),
    );
    assert_eq!(running.security_group_ids(), ["Keys"]);
    assert!(received.recv_timeout(Duration::from_millis(200)).is_err());
    running.set_keys("Keys", &crate::support::keys(1, Instant::now()));
    wait_for(&received, &Variant::UInt32(9));
}

#[test]
fn a_start_that_fails_names_the_reason() {
    let mut setup = Setup::new(&[Variant::UInt32(9)]);
    let configuration = configuration(&setup, "opc.udp://192.0.2.1:4840");
    let mut broken = configuration.clone();
    broken.connections[0].address = ExtensionObject::NULL;
    let mut nobody =
        |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> { Box::new(()) };
    let options = RuntimeOptions::default();
    let mut start = |configuration: &_| {
        let (source, target) = (&mut setup.cells, &mut setup.received);
        PubSub::start(configuration, source, target, &mut nobody, &options)
            .err()
            .unwrap()
    };
    let error = start(&broken);
    let text = error.to_string();
    assert!(
        text.starts_with("[[connections]] Out: address: is missing"),
        "{text}"
    );
    // This is not an address of this host, so that receiving there is not possible.
    let error = start(&configuration);
    assert!(
        matches!(&error, StartError::Link { component, .. } if component == "In"),
        "{error}"
    );
}

#[test]
fn reasons_of_errors_are_reported() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
    // The metadata has another type than the value.
    let field = &mut setup.data_set.data_set_meta_data.fields[0];
    field.built_in_type = BuiltInType::Float as u8;
    field.data_type = NodeId::numeric(0, field.built_in_type.into());
    let (running, _received) = start(
        &mut setup,
        &format!("opc.udp://127.0.0.1:{}", takt_ports::reserve()),
    );
    let deadline = Instant::now() + PATIENCE;
    let problem = loop {
        if let Some(problem) = running.problems().into_iter().next() {
            break problem;
        }
        assert!(Instant::now() < deadline, "no problem was reported");
        std::thread::sleep(Duration::from_millis(1));
    };
    assert_eq!(&*problem.component, "Out/Group");
    assert!(
        matches!(
            problem.cause,
            ProblemCause::Publish(PublishError::RawData(_))
        ),
        "{problem:?}"
    );
}

#[test]
fn a_cell_is_good_when_the_parts_of_both_connections_are() {
    let mut setup = Setup::new(&[vec![1_u32, 2].into()]);
    let node = NodeId::numeric(1, 0);
    let cell = Arc::new(Cell::of(&vec![0_u32; 4].into()));
    setup.received = [(node.clone(), Arc::clone(&cell))].into();
    let [fed, silent] = [(); 2].map(|()| format!("opc.udp://127.0.0.1:{}", takt_ports::reserve()));
    let of_part = |configuration: &mut PubSubConnectionDataType, range: &str| {
        let target = FieldTargetDataType {
            target_node_id: node.clone(),
            attribute_id: 13,
            write_index_range: range.into(),
            ..FieldTargetDataType::default()
        };
        let targets = TargetVariablesDataType {
            target_variables: vec![target],
        };
        let reader = &mut configuration.reader_groups[0].data_set_readers[0];
        reader.subscribed_data_set = ExtensionObject::from_structure(&targets);
    };
    let mut both = configuration(&setup, &fed);
    let mut other = configuration(&setup, &silent).connections.remove(1);
    other.name = "Other".into();
    of_part(&mut both.connections[1], "0:1");
    of_part(&mut other, "2:3");
    both.connections.push(other);
    let (values, received) = channel();
    let mut observers = |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> {
        Box::new(Values(values.clone()))
    };
    let options = RuntimeOptions::default();
    let (source, target) = (&mut setup.cells, &mut setup.received);
    let _running = PubSub::start(&both, source, target, &mut observers, &options).unwrap();
    wait_for(&received, &vec![1_u32, 2].into());
    assert!(cell.get().unwrap().status_code().is_bad());
    let mut group = setup.build();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let feed = |group: &mut WriterGroup| {
        let mut messages: Vec<Vec<u8>> = Vec::new();
        let up = PubSubState::Operational;
        group.publish(now(), up, &mut messages).unwrap();
        for message in messages {
            let address = silent.strip_prefix("opc.udp://").unwrap();
            socket.send_to(&message, address).unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let deadline = Instant::now() + PATIENCE;
    let whole = loop {
        let found = cell.get().unwrap();
        if found.status_code().is_good() {
            break found.value;
        }
        assert!(Instant::now() < deadline, "it does not become good");
        feed(&mut group);
    };
    assert_eq!(whole, Some(vec![1_u32, 2, 1, 2].into()));
    // One Publisher is silent again, the other one is not.
    while !cell.get().unwrap().status_code().is_bad() {
        assert!(Instant::now() < deadline, "it does not become bad");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The metadata of all writers and the data of an interval are more messages than a batch of the link, whose messages leave together
/// or not at all.
#[test]
fn json_metadata_of_many_writers_arrives_from_a_group_of_newest_values() {
    // One message of data for each writer, and one for all.
    for (writers, mask) in [
        (17, HEADERS | JsonMask::SingleDataSetMessage),
        (40, HEADERS),
    ] {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut setup = json_setup(&[Variant::UInt32(1)], mask, DATA_SET_HEADER);
        let writer = setup.writer().clone();
        setup.group.data_set_writers = (1..=writers)
            .map(|id| DataSetWriterDataType {
                name: format!("Writer {id}").as_str().into(),
                data_set_writer_id: id,
                ..writer.clone()
            })
            .collect();
        let url = format!("opc.udp://{}", socket.local_addr().unwrap());
        let mut configuration = configuration(&setup, &url);
        configuration.connections.truncate(1);
        let mut nobody =
            |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> { Box::new(()) };
        let options = RuntimeOptions {
            kernel_queue: KernelQueue::Cycles(4),
            ..RuntimeOptions::default()
        };
        let (source, target) = (&mut setup.cells, &mut setup.received);
        let running = PubSub::start(&configuration, source, target, &mut nobody, &options).unwrap();
        let mut missing: BTreeSet<u16> = (1..=writers).collect();
        let deadline = Instant::now() + PATIENCE;
        let mut bytes = vec![0; 65_536];
        while !missing.is_empty() {
            let length = socket.recv(&mut bytes).unwrap();
            let message: serde_json::Value = serde_json::from_slice(&bytes[..length]).unwrap();
            if message["MessageType"] == "ua-metadata" {
                let id = message["DataSetWriterId"].as_u64().unwrap();
                missing.remove(&u16::try_from(id).unwrap());
            }
            assert!(Instant::now() < deadline, "no metadata of {missing:?}");
        }
        let group = running.writer_groups().next().unwrap();
        assert_eq!(group.statistics.errors, 0, "{:?}", running.problems());
    }
}

#[test]
fn a_group_stops_in_the_middle_of_a_long_publishing_interval() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.group.publishing_interval = 3_600_000.0;
    setup.group.keep_alive_time = 7_200_000.0;
    let url = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    let (mut running, _received) = start(&mut setup, &url);
    let (stopped, has_stopped) = channel();
    std::thread::spawn(move || {
        running.stop();
        stopped.send(()).unwrap_or_default();
    });
    has_stopped.recv_timeout(PATIENCE).unwrap();
}
