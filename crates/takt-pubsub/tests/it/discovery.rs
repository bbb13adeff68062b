//! Subscribers that have only addresses, and running Publishers that announce, over UDP.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use takt_link::{LinkOptions, open_receiver, open_sender};
use takt_pubsub::discovery::probe_message;
use takt_pubsub::runtime::{PubSub, RuntimeOptions};
use takt_pubsub::subscriber::{ReceivedDataSet, Subscriber, SubscriberObserver};
use takt_pubsub::{Now, ReceiveError};
use takt_ua::enumerations::{DataSetFieldContentMask, PubSubState};
use takt_ua::structures::{
    DataSetMetaDataType, DatagramConnectionTransport2DataType, NetworkAddressUrlDataType,
    PubSubConfiguration2DataType, PubSubConnectionDataType, ReaderGroupDataType,
};
use takt_ua::{ExtensionObject, Variant};
use takt_wire::DiscoveryProbe;

use crate::support::Setup;

/// Longest wait for an expected event, which usually happens long before.
const PATIENCE: Duration = Duration::from_secs(60);

/// Observer that passes on names and values.
struct Names(Sender<Vec<(String, Variant)>>);

impl SubscriberObserver for Names {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let names = &received.reader.meta_data().fields;
        let fields = received.fields().filter_map(|(index, value)| {
            let name = names.get(index)?.name.to_string();
            Some((name, value.value.unwrap_or_default()))
        });
        // The receiver may be gone.
        let _ = self.0.send(fields.collect());
    }
}

/// Returns a setup with RawData of one field, `Speed`.
fn raw_data() -> Setup {
    let mut setup = Setup::new(&[Variant::UInt32(17)]);
    setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
    setup.data_set.data_set_meta_data.fields[0].name = "Speed".into();
    setup
}

/// Returns the configuration of a Publisher whose messages, probes and answers go to a group of this host only.
fn configuration(setup: &Setup) -> (PubSubConfiguration2DataType, [String; 2]) {
    let urls =
        [1, 2].map(|group| format!("opc.udp://239.255.43.{group}:{}", takt_ports::reserve()));
    let [data, discovery] = urls.each_ref().map(|url| {
        ExtensionObject::from_structure(&NetworkAddressUrlDataType {
            network_interface: "127.0.0.1".into(),
            url: url.as_str().into(),
        })
    });
    let connection = PubSubConnectionDataType {
        name: "Out".into(),
        address: data,
        transport_settings: ExtensionObject::from_structure(
            &DatagramConnectionTransport2DataType {
                discovery_address: discovery,
                ..DatagramConnectionTransport2DataType::default()
            },
        ),
        writer_groups: vec![setup.group.clone()],
        ..setup.connection.clone()
    };
    let configuration = PubSubConfiguration2DataType {
        enabled: true,
        published_data_sets: vec![setup.data_set.clone()],
        connections: vec![connection],
        ..PubSubConfiguration2DataType::default()
    };
    (configuration, urls)
}

fn speed() -> Vec<(String, Variant)> {
    vec![("Speed".to_owned(), Variant::UInt32(17))]
}

#[test]
fn a_probe_gives_raw_data_its_names() {
    let mut setup = raw_data();
    let (configuration, [data, discovery]) = configuration(&setup);
    let mut nobody =
        |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> { Box::new(()) };
    let options = RuntimeOptions::default();
    let (source, target) = (&mut setup.cells, &mut setup.received);
    let _running = PubSub::start(&configuration, source, target, &mut nobody, &options).unwrap();
    // The announcements at the start have been sent.
    std::thread::sleep(Duration::from_millis(100));
    let options = LinkOptions {
        interface: Some("127.0.0.1".to_owned()),
        ..LinkOptions::default()
    };
    let discovery = discovery.parse().unwrap();
    let mut sender = open_sender(&discovery, &options).unwrap();
    let mut receivers = [
        open_receiver(&data.parse().unwrap(), &options).unwrap(),
        open_receiver(&discovery, &options).unwrap(),
    ];
    let (names, received) = channel();
    let mut observer = Names(names);
    let mut subscriber = Subscriber::discovering(10);
    let mut seen = Vec::new();
    let mut refused = 0;
    let mut probed: Option<Instant> = None;
    let deadline = Instant::now() + PATIENCE;
    while seen.last() != Some(&speed()) {
        assert!(Instant::now() < deadline, "{seen:?}");
        for receiver in &mut receivers {
            let wait = Duration::from_millis(10);
            let each = &mut |message: takt_link::Received<'_>| {
                let up = PubSubState::Operational;
                let now = Now::read();
                match subscriber.receive(now, up, message.bytes, &mut observer) {
                    Ok(_) => {}
                    Err(ReceiveError::MetaDataMissing { .. }) => refused += 1,
                    Err(error) => panic!("{error}"),
                }
            };
            receiver.receive(wait, each).unwrap();
        }
        seen.extend(received.try_iter());
        let patience = Duration::from_secs(2);
        if probed.is_some_and(|at| at.elapsed() < patience) {
            continue;
        }
        for (publisher_id, data_set_writer_ids) in subscriber.missing_meta_data() {
            let probe = DiscoveryProbe::DataSetMetaData {
                data_set_writer_ids,
            };
            let probe = probe_message(publisher_id, probe).unwrap();
            sender.send(&probe).unwrap();
            probed = Some(Instant::now());
        }
    }
    assert!(probed.is_some());
    // Without names and types, earlier values were refused.
    assert!(refused > 0);
}

#[test]
fn a_reader_without_metadata_asks_for_it() {
    let mut setup = raw_data();
    let (publishing, _) = configuration(&setup);
    let mut reader = setup.reader.clone();
    reader.data_set_meta_data = DataSetMetaDataType::default();
    reader.subscribed_data_set = ExtensionObject::NULL;
    let receiving = PubSubConnectionDataType {
        name: "In".into(),
        writer_groups: Vec::new(),
        reader_groups: vec![ReaderGroupDataType {
            name: "Readers".into(),
            enabled: true,
            data_set_readers: vec![reader],
            ..ReaderGroupDataType::default()
        }],
        ..publishing.connections[0].clone()
    };
    let receiving = PubSubConfiguration2DataType {
        enabled: true,
        connections: vec![receiving],
        ..PubSubConfiguration2DataType::default()
    };
    let (names, received) = channel();
    let mut observers = |_: &PubSubConnectionDataType| -> Box<dyn SubscriberObserver + Send> {
        Box::new(Names(names.clone()))
    };
    let options = RuntimeOptions::default();
    let (source, target) = (&mut setup.cells, &mut setup.received);
    let mut start =
        |configuration| PubSub::start(configuration, source, target, &mut observers, &options);
    let _publisher = start(&publishing).unwrap();
    // The announcements at the start have been sent.
    std::thread::sleep(Duration::from_millis(100));
    let _subscriber = start(&receiving).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while received.recv_timeout(PATIENCE).unwrap() != speed() {
        assert!(Instant::now() < deadline, "no metadata came");
    }
}
