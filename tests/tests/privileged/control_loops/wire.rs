//! Frames of `takt publish SCENARIO`, as another host gets them.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use takt_lab::RunId;
use takt_link::{LinkOptions, Source, VlanTag, open_receiver};
use takt_rt::clock::realtime_nanos;
use takt_tests::network::HostPair as Network;
use takt_tests::{Process, Sandbox};
use takt_ua::Variant;
use takt_wire::{
    DataSetContent, DataSetMessage, Fields, GroupHeader, NetworkMessageRef, PayloadParameters,
    PayloadRef, PublisherId,
};

use crate::control_loops::PATIENCE;
use crate::control_loops::ends::start;

/// Address of messages to the loopback in scenario E3, with VLAN and PCP.
const GROUP: &str = "opc.eth://01-00-5E-00-54-01:1.3";

/// Number of frames to look at.
const FRAMES: usize = 20;

/// Returns the first frames of a Publisher that come to the other host.
fn frames(network: &mut Network, sandbox: &Sandbox, arguments: &[&str]) -> Vec<(Source, Vec<u8>)> {
    let host = &network.second;
    let namespace = File::open(host.namespace()).unwrap();
    let options = LinkOptions {
        interface: Some(host.interface.to_owned()),
        ..LinkOptions::default()
    };
    // Only this thread goes to the other host, and it ends there.
    let receive = move || {
        let kind = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(namespace.as_fd(), kind).unwrap();
        let mut receiver = open_receiver(&GROUP.parse().unwrap(), &options).unwrap();
        let publisher = start(&network.first, sandbox, "publish", arguments);
        let begin = Instant::now();
        let mut frames = Vec::new();
        while frames.len() < FRAMES {
            assert!(
                begin.elapsed() < PATIENCE,
                "{frames:?}{}",
                publisher.report()
            );
            let wait = Duration::from_millis(50);
            let received = receiver.receive(wait, &mut |message| {
                frames.push((message.source, message.bytes.to_vec()));
            });
            received.unwrap();
        }
        frames
    };
    thread::scope(|scope| scope.spawn(receive).join().unwrap())
}

/// Returns the only DataSetMessage of a message.
fn data_set(bytes: &[u8]) -> DataSetMessage {
    let message = NetworkMessageRef::new_checked(bytes).unwrap();
    let PayloadRef::DataSetMessages(messages) =
        message.payload(&PayloadParameters::default()).unwrap()
    else {
        panic!("no DataSetMessages: {message:?}");
    };
    let mut messages: Vec<_> = messages.iter().map(|it| it.unwrap().to_owned()).collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    messages.remove(0)
}

/// Returns the counters in the fields of a message.
fn counters(bytes: &[u8]) -> Vec<u64> {
    let data_set = data_set(bytes);
    let DataSetContent::KeyFrame(Fields::Variant(fields)) = &data_set.content else {
        panic!("no key frame of Variants: {data_set:?}");
    };
    let counter = |field: &Variant| match field {
        Variant::UInt64(counter) => *counter,
        other => panic!("no counter: {other:?}"),
    };
    fields.iter().map(counter).collect()
}

pub fn frames_have_the_tag_and_the_length_of_the_scenario() {
    let (mut network, sandbox) = (Network::new(), Sandbox::new());
    for (fields, length) in [("3", 59), ("8", 104)] {
        let more = ["--field", &format!("applications.control.fields={fields}")];
        let mut last = 0;
        for (source, bytes) in &frames(&mut network, &sandbox, &more) {
            let Source::Ethernet { vlan, .. } = source else {
                panic!("{source:?}");
            };
            assert_eq!(*vlan, Some(VlanTag { id: 1, priority: 3 }));
            assert_eq!(bytes.len(), length);
            let message = NetworkMessageRef::new_checked(bytes).unwrap();
            let expected = GroupHeader {
                writer_group_id: Some(1),
                group_version: message.group_header.and_then(|it| it.group_version),
                network_message_number: Some(1),
                sequence_number: message.group_header.and_then(|it| it.sequence_number),
            };
            assert_eq!(message.group_header, Some(expected));
            assert!(expected.sequence_number.is_some());
            // The id of the run: seconds since 2000.
            let run = expected.group_version.unwrap();
            let age = RunId::at(realtime_nanos()).0 - run;
            assert!(age <= 600, "{age} s");
            let id = message.publisher_id.map(|id| id.to_owned());
            assert_eq!(id, Some(PublisherId::UInt16(1)));
            let counters = counters(bytes);
            assert_eq!(counters.len().to_string(), fields);
            assert!(counters[0] > last, "{} after {last}", counters[0]);
            last = counters[0];
            assert!(
                counters.iter().all(|counter| *counter == last),
                "{counters:?}"
            );
        }
    }
}

/// Foreign software decodes the messages over UDP (`interop_pubsub_asyncua`, `interop_pubsub_open62541`).
pub fn frames_have_the_messages_of_udp() {
    let (mut network, sandbox) = (Network::new(), Sandbox::new());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let there = format!("opc.udp://{}", socket.local_addr().unwrap());
    let back = format!("opc.udp://127.0.0.1:{}", takt_ports::reserve());
    let scenario = takt_tests::binary::repository().join("scenarios/e3.toml");
    let arguments = [
        "publish",
        scenario.to_str().unwrap(),
        "--there",
        &there,
        "--back",
        &back,
        "--field",
        "discipline=mqprio",
        "--field",
        "applications.control.cycle=2ms",
    ];
    // Without the times and the id of the run, the messages of a counter are equal.
    let timeless = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        let group = NetworkMessageRef::new_checked(&bytes).unwrap().group_header;
        let run = group.unwrap().group_version.unwrap().to_le_bytes();
        let at = bytes.windows(run.len()).position(|window| window == run);
        bytes[at.unwrap()..][..run.len()].fill(0);
        let time = data_set(&bytes).timestamp.unwrap().0.to_le_bytes();
        let mut windows = bytes.windows(time.len());
        let at = windows.position(|window| window == time).unwrap();
        bytes[at..at + time.len()].fill(0);
        (counters(&bytes)[0], bytes)
    };
    let publisher = Process::spawn("takt publish", &mut sandbox.takt(&arguments));
    let mut buffer = [0; 2000];
    let mut over_udp = BTreeMap::new();
    while over_udp.len() < 500 {
        let length = socket.recv(&mut buffer).unwrap();
        over_udp.extend([timeless(&buffer[..length])]);
    }
    drop(publisher);
    for (_, bytes) in frames(&mut network, &sandbox, &[]) {
        let (counter, bytes) = timeless(&bytes);
        assert_eq!(over_udp.get(&counter), Some(&bytes), "counter {counter}");
    }
}
