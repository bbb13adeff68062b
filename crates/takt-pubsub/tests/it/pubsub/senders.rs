//! Data never appears under the name of another sender.

use std::collections::HashMap;
use std::fmt;

use takt_cell::Cell;
use takt_pubsub::LossCause;
use takt_pubsub::subscriber::*;
use takt_ua::enumerations::{
    JsonNetworkMessageContentMask as Mask, PubSubState, UadpNetworkMessageContentMask as UadpMask,
};
use takt_ua::structures::{
    FieldTargetDataType, JsonDataSetReaderMessageDataType, PubSubConnectionDataType,
    ReaderGroupDataType, TargetVariablesDataType, UadpDataSetReaderMessageDataType,
};
use takt_ua::{ExtensionObject, NodeId, Variant};

use crate::support::{Setup, now};

const UP: PubSubState = PubSubState::Operational;

/// Observer that keeps values by readers.
#[derive(Default)]
struct Seen {
    values: HashMap<String, Vec<(String, Variant)>>,
    missing: u64,
    unclaimed: Vec<String>,
}

impl SubscriberObserver for Seen {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        self.missing += u64::from(received.missing);
        let meta_data = &received.reader.meta_data().fields;
        let values = self.values.entry(received.reader.name().to_owned());
        values
            .or_default()
            .extend(received.fields().map(|(index, value)| {
                let name = meta_data.get(index).map(|field| field.name.to_string());
                (name.unwrap_or_default(), value.value.unwrap_or_default())
            }));
    }

    fn unclaimed(&mut self, message: &dyn fmt::Display) {
        self.unclaimed.push(message.to_string());
    }
}

impl Seen {
    /// Returns the names of the readers that have received, with the names and numbers of their fields.
    fn summary(&self) -> Vec<(&str, Vec<(&str, f64)>)> {
        let number = |value: &Variant| match value {
            Variant::Double(number) => *number,
            other => other.as_i64().unwrap() as f64,
        };
        let readers = self.values.iter().map(|(reader, values)| {
            let values = values
                .iter()
                .map(|(name, value)| (name.as_str(), number(value)));
            (reader.as_str(), values.collect())
        });
        let mut summary: Vec<_> = readers.collect();
        summary.sort_by_key(|(reader, _)| *reader);
        summary
    }
}

/// Returns a UADP message with one Double. Header parts that are `None` are left out.
fn uadp(
    publisher: Option<u16>,
    group: Option<u16>,
    writer: Option<u16>,
    number: u16,
    value: f64,
) -> Vec<u8> {
    let flag = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
    let mut bytes = vec![
        0x81 | flag(publisher.is_some(), 0x10)
            | flag(group.is_some(), 0x20)
            | flag(writer.is_some(), 0x40),
        u8::from(publisher.is_some()),
    ];
    bytes.extend(publisher.into_iter().flat_map(u16::to_le_bytes));
    if let Some(group) = group {
        bytes.push(0x01);
        bytes.extend(group.to_le_bytes());
    }
    if let Some(writer) = writer {
        bytes.push(1);
        bytes.extend(writer.to_le_bytes());
    }
    bytes.push(0x09);
    bytes.extend(number.to_le_bytes());
    bytes.extend([1, 0, 11]);
    bytes.extend(value.to_le_bytes());
    bytes
}

fn origin(sender: MessageSender<'_>) -> Origin<'_> {
    Origin { link: 0, sender }
}

fn topic(topic: &str) -> Origin<'_> {
    origin(MessageSender::Topic(topic.into()))
}

fn pass(subscriber: &mut Subscriber, origin: &Origin<'_>, message: &[u8], seen: &mut Seen) {
    let mut message = message.to_vec();
    let received = subscriber.receive_from(origin, now(), UP, &mut message, seen);
    received.unwrap();
}

/// Returns a subscriber with these readers, each with a cell.
fn configured(
    settings: ExtensionObject,
    writers: &[(&str, u16)],
) -> (Subscriber, Vec<std::sync::Arc<Cell>>) {
    let setup = Setup::new(&[Variant::Double(0.0)]);
    let ids: Vec<NodeId> = (10..)
        .map(|id| NodeId::numeric(1, id))
        .take(writers.len())
        .collect();
    let mut target: HashMap<_, _> = ids
        .iter()
        .map(|id| {
            (
                id.clone(),
                std::sync::Arc::new(Cell::of(&Variant::Double(0.0))),
            )
        })
        .collect();
    let readers = writers.iter().zip(&ids).map(|((name, writer), id)| {
        let mut reader = setup.reader.clone();
        reader.name = (*name).into();
        reader.data_set_writer_id = *writer;
        reader.data_set_meta_data.fields[0].name = "temperature".into();
        reader.message_settings = settings.clone();
        reader.subscribed_data_set = ExtensionObject::from_structure(&TargetVariablesDataType {
            target_variables: vec![FieldTargetDataType {
                target_node_id: id.clone(),
                attribute_id: 13,
                ..FieldTargetDataType::default()
            }],
        });
        reader
    });
    let connection = PubSubConnectionDataType {
        reader_groups: vec![ReaderGroupDataType {
            enabled: true,
            data_set_readers: readers.collect(),
            ..ReaderGroupDataType::default()
        }],
        ..setup.connection.clone()
    };
    let subscriber = Subscriber::new(&connection, &[], &mut target).unwrap();
    let cells = ids.iter().map(|id| target[id].clone()).collect();
    (subscriber, cells)
}

fn number(cell: &Cell) -> f64 {
    match cell.get().unwrap().value {
        Some(Variant::Double(number)) => number,
        other => panic!("{other:?}"),
    }
}

#[test]
fn configured_readers_take_messages_of_their_own_link() {
    let minimal = ExtensionObject::from_structure(&JsonDataSetReaderMessageDataType {
        network_message_content_mask: Mask::SingleDataSetMessage,
        ..JsonDataSetReaderMessageDataType::default()
    });
    let (mut subscriber, cells) = configured(minimal, &[("Boiler", 1), ("Freezer", 2)]);
    subscriber.set_reader_links(0, 0, vec![2]);
    subscriber.set_reader_links(1, 1, vec![2]);
    let mut seen = Seen::default();
    for (link, text) in [(0, "180.5"), (1, "-18.0"), (2, "7.0")] {
        let place = Origin {
            link,
            ..Origin::default()
        };
        let text = format!(r#"{{"temperature":{text}}}"#);
        pass(&mut subscriber, &place, text.as_bytes(), &mut seen);
    }
    assert_eq!((number(&cells[0]), number(&cells[1])), (180.5, -18.0));
    let expected = [
        ("Boiler", vec![("temperature", 180.5)]),
        ("Freezer", vec![("temperature", -18.0)]),
    ];
    assert_eq!(seen.summary(), expected);
    // The third link has metadata only.
    assert_eq!(subscriber.losses().of(LossCause::Unclaimed), 1);
}

#[test]
fn configured_readers_of_one_writer_are_apart_on_the_fast_path() {
    let settings = Setup::new(&[Variant::Double(0.0)]).reader.message_settings;
    let (mut subscriber, cells) = configured(settings, &[("One", 7), ("Other", 7)]);
    subscriber.set_reader_links(0, 0, Vec::new());
    subscriber.set_reader_links(1, 1, Vec::new());
    for step in 0..20_u16 {
        for link in 0..2 {
            let value = f64::from(step) + 100.0 * link as f64;
            let place = Origin {
                link,
                ..Origin::default()
            };
            let mut message = uadp(Some(4), Some(3), Some(7), step, value);
            let received = subscriber.receive_from(&place, now(), UP, &mut message, &mut ());
            let received = received.unwrap();
            // The layout is learned from the first message of each link.
            assert_eq!((received.accepted, received.fixed), (1, step > 0));
        }
        let expected = (f64::from(step), f64::from(step) + 100.0);
        assert_eq!((number(&cells[0]), number(&cells[1])), expected);
    }
}

#[test]
fn configured_readers_need_the_parts_that_their_masks_announce() {
    let settings = |mask| {
        ExtensionObject::from_structure(&UadpDataSetReaderMessageDataType {
            network_message_content_mask: mask,
            ..UadpDataSetReaderMessageDataType::default()
        })
    };
    let anonymous = uadp(None, None, Some(7), 1, -200.5);
    let without_writer = uadp(Some(4), Some(3), None, 1, -200.5);
    let exact = UadpMask::PublisherId | UadpMask::PayloadHeader;
    for (mask, count) in [(exact, 0), (UadpMask::GroupHeader, 1)] {
        for message in [&anonymous, &without_writer] {
            let (mut subscriber, _) = configured(settings(mask), &[("Reader", 7)]);
            let mut seen = Seen::default();
            pass(&mut subscriber, &Origin::default(), message, &mut seen);
            assert_eq!(seen.values.len(), count, "{mask}");
            assert_eq!(
                subscriber.losses().of(LossCause::Unclaimed),
                1 - count as u64
            );
        }
    }
    let json = ExtensionObject::from_structure(&JsonDataSetReaderMessageDataType {
        network_message_content_mask: Mask::NetworkMessageHeader
            | Mask::DataSetMessageHeader
            | Mask::PublisherId,
        data_set_message_content_mask:
            takt_ua::enumerations::JsonDataSetMessageContentMask::DataSetWriterId,
    });
    for (text, count) in [
        (
            r#"{"MessageId":"1","MessageType":"ua-data","PublisherId":"4","Messages":[{"DataSetWriterId":7,"Payload":{"temperature":1.5}}]}"#,
            1,
        ),
        (
            r#"{"MessageId":"1","MessageType":"ua-data","Messages":[{"DataSetWriterId":7,"Payload":{"temperature":1.5}}]}"#,
            0,
        ),
        (
            r#"{"MessageId":"1","MessageType":"ua-data","PublisherId":"4","Messages":[{"DataSetWriterName":"Other","Payload":{"temperature":1.5}}]}"#,
            0,
        ),
        (r#"{"DataSetWriterId":7,"Payload":{"temperature":1.5}}"#, 0),
    ] {
        let (mut subscriber, _) = configured(json.clone(), &[("Reader", 7)]);
        let mut seen = Seen::default();
        pass(
            &mut subscriber,
            &Origin::default(),
            text.as_bytes(),
            &mut seen,
        );
        assert_eq!(seen.values.len(), count, "{text}");
    }
}

#[test]
fn messages_that_no_reader_takes_are_counted_and_said_once() {
    let settings = Setup::new(&[Variant::Double(0.0)]).reader.message_settings;
    let (mut subscriber, _) = configured(settings, &[("Reader", 7)]);
    let mut seen = Seen::default();
    let place = topic("plant/boiler");
    for step in 0..5 {
        pass(
            &mut subscriber,
            &place,
            &uadp(Some(9), Some(3), Some(7), step, 1.0),
            &mut seen,
        );
        pass(
            &mut subscriber,
            &place,
            &uadp(Some(4), Some(3), Some(8), step, 1.0),
            &mut seen,
        );
        let json = br#"{"MessageId":"1","MessageType":"ua-data","PublisherId":"4","Messages":[{"DataSetWriterId":7,"Payload":{"A":1}}]}"#;
        pass(&mut subscriber, &place, json, &mut seen);
        pass(&mut subscriber, &place, br#"{"A":1}"#, &mut seen);
        pass(
            &mut subscriber,
            &place,
            &uadp(Some(4), Some(3), Some(7), step, 1.0),
            &mut seen,
        );
    }
    assert_eq!(subscriber.losses().of(LossCause::Unclaimed), 20);
    assert_eq!(seen.unclaimed, ["9/3/7"]);
}

#[test]
fn discovered_readers_have_what_the_json_message_says_or_its_topic() {
    let headers = [
        (
            r#""PublisherId":"press","#,
            r#""DataSetWriterId":1,"#,
            "press/?/1",
        ),
        (
            r#""PublisherId":"press","#,
            r#""DataSetWriterId":2,"#,
            "press/?/2",
        ),
        (
            r#""PublisherId":"press","#,
            r#""DataSetWriterName":"Other","#,
            "press/?/Other",
        ),
        (r#""PublisherId":"press","#, "", "press/?/? from T"),
        ("", r#""DataSetWriterId":1,"#, "?/?/1 from T"),
        ("", r#""DataSetWriterName":"Other","#, "?/?/Other from T"),
        ("", "", "?/?/? from T"),
        (
            r#""PublisherId":"press","WriterGroupName":"G","#,
            r#""DataSetWriterId":1,"#,
            "press/G/1",
        ),
    ];
    let mut subscriber = Subscriber::discovering(100);
    let mut seen = Seen::default();
    let mut expected: Vec<(String, String, f64)> = Vec::new();
    // Each topic has all kinds of messages, and none of them appears elsewhere.
    for (index, place) in ["T1", "T2"].iter().enumerate() {
        for (kind, (network_message, data_set_message, name)) in headers.iter().enumerate() {
            let (field, value) = (
                format!("F{index}{kind}"),
                f64::from(10 * index as u16 + kind as u16),
            );
            let payload = format!(
                r#"{{{data_set_message}"MessageType":"ua-keyframe","Payload":{{"{field}":{value:.1}}}}}"#
            );
            let text = format!(
                r#"{{"MessageId":"1","MessageType":"ua-data",{network_message}"Messages":[{payload}]}}"#
            );
            pass(&mut subscriber, &topic(place), text.as_bytes(), &mut seen);
            expected.push((name.replace('T', place), field, value));
        }
        let minimal = format!(r#"{{"M{index}":{index}.5}}"#);
        pass(
            &mut subscriber,
            &topic(place),
            minimal.as_bytes(),
            &mut seen,
        );
        expected.push((
            format!("?/?/? from {place}"),
            format!("M{index}"),
            f64::from(index as u16) + 0.5,
        ));
        let single = format!(r#"{{"DataSetWriterId":1,"Payload":{{"S{index}":{index}.25}}}}"#);
        pass(&mut subscriber, &topic(place), single.as_bytes(), &mut seen);
        expected.push((
            format!("?/?/1 from {place}"),
            format!("S{index}"),
            f64::from(index as u16) + 0.25,
        ));
    }
    let mut found: Vec<(String, String, f64)> = Vec::new();
    for (reader, values) in seen.summary() {
        found.extend(
            values
                .iter()
                .map(|(name, value)| (reader.to_owned(), (*name).to_owned(), *value)),
        );
    }
    let sort =
        |rows: &mut Vec<(String, String, f64)>| rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    sort(&mut expected);
    sort(&mut found);
    assert_eq!(found, expected);
}

#[test]
fn discovered_readers_are_told_apart_by_their_senders() {
    let one: std::net::SocketAddr = "127.0.0.1:5000".parse().unwrap();
    let other: std::net::SocketAddr = "127.0.0.2:5000".parse().unwrap();
    let port: std::net::SocketAddr = "127.0.0.2:5001".parse().unwrap();
    let card = |last| MessageSender::Ethernet([1, 2, 3, 4, 5, last], 0);
    let senders = [
        MessageSender::Udp(one),
        MessageSender::Udp(other),
        MessageSender::Udp(port),
        card(1),
        card(2),
        MessageSender::Ethernet([1, 2, 3, 4, 5, 2], 9),
        MessageSender::SharedMemory(1),
        MessageSender::SharedMemory(2),
        MessageSender::Topic("plant/a".into()),
        MessageSender::Topic("plant/b".into()),
    ];
    let mut subscriber = Subscriber::discovering(100);
    let mut seen = Seen::default();
    // Enough messages for the fast path, with numbers that would be old or missing if they were of one sender.
    for step in 0..20_u16 {
        for (index, sender) in senders.iter().enumerate() {
            let count = step + 1000 * index as u16;
            let place = origin(sender.clone());
            let value = index as f64;
            pass(
                &mut subscriber,
                &place,
                &uadp(None, None, Some(1), count, value),
                &mut seen,
            );
        }
        let known = uadp(Some(7), Some(1), Some(1), step, 100.0);
        pass(
            &mut subscriber,
            &origin(senders[0].clone()),
            &known,
            &mut seen,
        );
        let same_writer_in_another_group = uadp(Some(7), Some(2), Some(1), step + 30_000, 200.0);
        pass(
            &mut subscriber,
            &origin(senders[0].clone()),
            &same_writer_in_another_group,
            &mut seen,
        );
        let without_group = uadp(Some(7), None, Some(1), step + 20_000, 300.0);
        pass(
            &mut subscriber,
            &origin(senders[1].clone()),
            &without_group,
            &mut seen,
        );
    }
    let summary = seen.summary();
    assert_eq!(summary.len(), senders.len() + 3);
    for (index, sender) in senders.iter().enumerate() {
        let name = format!("?/?/1 from {sender}");
        let (_, values) = summary.iter().find(|(reader, _)| *reader == name).unwrap();
        assert_eq!(values.len(), 20, "{name}");
        assert!(
            values.iter().all(|(_, value)| *value == index as f64),
            "{name}"
        );
    }
    for (name, wanted) in [("7/1/1", 100.0), ("7/2/1", 200.0), ("7/?/1", 300.0)] {
        let (_, values) = summary.iter().find(|(reader, _)| *reader == name).unwrap();
        assert_eq!(values.len(), 20);
        assert!(values.iter().all(|(_, value)| *value == wanted), "{name}");
    }
    assert_eq!(seen.missing, 0);
}

#[test]
fn names_of_discovered_readers_are_unique() {
    let mut subscriber = Subscriber::discovering(10);
    let mut seen = Seen::default();
    let json = |publisher: &str, group: &str| {
        format!(
            r#"{{"MessageId":"1","MessageType":"ua-data","PublisherId":"{publisher}","WriterGroupName":"{group}","Messages":[{{"DataSetWriterId":1,"Payload":{{"A":1}}}}]}}"#
        )
    };
    let place = topic("T");
    for text in [json("a/b", "c"), json("a", "b/c"), json("7", "1")] {
        pass(&mut subscriber, &place, text.as_bytes(), &mut seen);
    }
    pass(
        &mut subscriber,
        &place,
        &uadp(Some(7), Some(1), Some(1), 0, 1.0),
        &mut seen,
    );
    let mut names: Vec<_> = seen.values.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["7/1/1", "7/1/1 (2)", "a/b/c/1", "a/b/c/1 (2)"]);
}

#[test]
fn retained_metadata_names_the_fields_of_its_own_writer_only() {
    let announced = |publisher: u16, name: &str| {
        let mut setup = Setup::new(&[Variant::Double(0.0)]);
        setup.connection.publisher_id = Variant::UInt16(publisher);
        setup.data_set.data_set_meta_data.fields[0].name = name.into();
        let mut output: Vec<Vec<u8>> = Vec::new();
        setup.build().publish_meta_data(now(), &mut output).unwrap();
        output.remove(0)
    };
    let in_json = r#"{"MessageId":"1","MessageType":"ua-metadata","PublisherId":"4","DataSetWriterId":7,"MetaData":{"Name":"D","Fields":[{"Name":"Json","BuiltInType":11,"DataType":"i=11","ValueRank":-1}],"ConfigurationVersion":{"MajorVersion":1,"MinorVersion":1}}}"#;
    let mut subscriber = Subscriber::discovering(10);
    let mut seen = Seen::default();
    // A broker passes retained metadata on before the first data.
    pass(
        &mut subscriber,
        &topic("opcua/uadp/metadata/4"),
        &announced(4, "Speed"),
        &mut seen,
    );
    pass(
        &mut subscriber,
        &topic("opcua/uadp/metadata/5"),
        &announced(5, "Depth"),
        &mut seen,
    );
    pass(
        &mut subscriber,
        &topic("opcua/json/metadata/4"),
        in_json.as_bytes(),
        &mut seen,
    );
    let data = topic("opcua/uadp/data/4");
    pass(
        &mut subscriber,
        &data,
        &uadp(Some(4), Some(3), Some(7), 0, 1.0),
        &mut seen,
    );
    pass(
        &mut subscriber,
        &data,
        &uadp(Some(5), None, Some(7), 0, 2.0),
        &mut seen,
    );
    pass(
        &mut subscriber,
        &data,
        &uadp(Some(6), None, Some(7), 0, 3.0),
        &mut seen,
    );
    pass(
        &mut subscriber,
        &data,
        &uadp(None, None, Some(7), 0, 4.0),
        &mut seen,
    );
    let json = r#"{"MessageId":"1","MessageType":"ua-data","PublisherId":"4","WriterGroupName":"G","Messages":[{"DataSetWriterId":7,"Payload":{"Json":5.0}}]}"#;
    pass(
        &mut subscriber,
        &topic("opcua/json/data/4"),
        json.as_bytes(),
        &mut seen,
    );
    let expected = [
        ("4/3/7", vec![("Speed", 1.0)]),
        ("4/G/7", vec![("Json", 5.0)]),
        ("5/?/7", vec![("Depth", 2.0)]),
        ("6/?/7", vec![("", 3.0)]),
        ("?/?/7 from opcua/uadp/data/4", vec![("", 4.0)]),
    ];
    assert_eq!(seen.summary(), expected);
    // Retained metadata has readers that are not shown before they receive; the data has taken them over.
    assert_eq!(subscriber.readers().len(), 5);
}

#[test]
fn chunks_of_different_senders_are_not_put_together() {
    let chunks = |text: &str| {
        let mut setup = Setup::new(&[Variant::from(text.repeat(50))]);
        setup.group.message_settings =
            ExtensionObject::from_structure(&takt_ua::structures::UadpWriterGroupMessageDataType {
                network_message_content_mask: UadpMask::PayloadHeader,
                ..Default::default()
            });
        setup.group.max_network_message_size = 60;
        let mut output: Vec<Vec<u8>> = Vec::new();
        setup.build().publish(now(), UP, &mut output).unwrap();
        assert!(output.len() > 1);
        output
    };
    let mut subscriber = Subscriber::discovering(10);
    let mut seen = Seen::default();
    for (one, other) in chunks("x").iter().zip(&chunks("y")) {
        pass(&mut subscriber, &topic("X"), one, &mut seen);
        pass(&mut subscriber, &topic("Y"), other, &mut seen);
    }
    assert_eq!(seen.values.len(), 2);
    for (place, text) in [("X", "x"), ("Y", "y")] {
        let values = &seen.values[&format!("?/?/7 from {place}")];
        assert_eq!(values[0].1, Variant::from(text.repeat(50)));
    }
}
