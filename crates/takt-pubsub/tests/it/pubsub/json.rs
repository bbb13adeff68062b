//! JSON message mapping, from WriterGroup to Subscriber.

use std::time::Duration;

use takt_cell::Cell;
use takt_pubsub::publisher::WriterGroup;
use takt_pubsub::subscriber::*;
use takt_pubsub::{LossCause, Now, PublishError, ReceiveError};
use takt_ua::enumerations::{
    DataSetFieldContentMask, JsonDataSetMessageContentMask as DataSetMask,
    JsonNetworkMessageContentMask as Mask, MessageSecurityMode, PubSubState,
};
use takt_ua::structures::{
    DataSetReaderDataType, JsonDataSetReaderMessageDataType, JsonDataSetWriterMessageDataType,
    JsonWriterGroupMessageDataType,
};
use takt_ua::{DateTime, ExtensionObject, StatusCode, Variant};
use takt_wire::{DiscoveryAnnouncement, PublisherIdRef};

use crate::support::{Setup, now};

const UP: PubSubState = PubSubState::Operational;

pub(crate) const HEADERS: u32 =
    Mask::NetworkMessageHeader | Mask::DataSetMessageHeader | Mask::PublisherId;
pub(crate) const DATA_SET_HEADER: u32 = DataSetMask::DataSetWriterId
    | DataSetMask::SequenceNumber
    | DataSetMask::MessageType
    | DataSetMask::MetaDataVersion
    | DataSetMask::FieldEncoding1
    | DataSetMask::FieldEncoding2;

/// Names and values.
type Fields = Vec<(String, Variant)>;

/// Observer that keeps the messages of a reader.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) data_sets: Vec<(DataSetKind, Option<u32>, Fields)>,
    pub(crate) announced: Vec<(String, DiscoveryAnnouncement)>,
}

impl SubscriberObserver for Log {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let names = &received.reader.meta_data().fields;
        let fields = received.fields().map(|(index, value)| {
            let name = names[index].name.to_string();
            (name, value.value.unwrap_or_default())
        });
        let fields = fields.collect();
        self.data_sets
            .push((received.kind, received.sequence_number, fields));
    }

    fn announced(&mut self, publisher: PublisherIdRef<'_>, announcement: &DiscoveryAnnouncement) {
        self.announced
            .push((publisher.to_string(), announcement.clone()));
    }
}

/// Returns a setup whose fields are named `A`, `B` and so on.
pub(crate) fn setup(values: &[Variant], mask: u32, data_set_mask: u32) -> Setup {
    let mut setup = Setup::new(values);
    for meta_data in [
        &mut setup.data_set.data_set_meta_data,
        &mut setup.reader.data_set_meta_data,
    ] {
        for (field, letter) in meta_data.fields.iter_mut().zip('A'..) {
            field.name = letter.to_string().as_str().into();
        }
    }
    setup.group.message_settings =
        ExtensionObject::from_structure(&JsonWriterGroupMessageDataType {
            network_message_content_mask: mask,
        });
    setup.writer().message_settings =
        ExtensionObject::from_structure(&JsonDataSetWriterMessageDataType {
            data_set_message_content_mask: data_set_mask,
        });
    setup.reader.message_settings =
        ExtensionObject::from_structure(&JsonDataSetReaderMessageDataType {
            network_message_content_mask: mask,
            data_set_message_content_mask: data_set_mask,
        });
    setup
}

pub(crate) fn texts(group: &mut WriterGroup, now: Now) -> Vec<String> {
    let mut output: Vec<Vec<u8>> = Vec::new();
    let published = group.publish(now, UP, &mut output).unwrap();
    assert_eq!(
        (published.network_messages, published.fixed),
        (output.len(), 0)
    );
    let text = |message| String::from_utf8(message).unwrap();
    output.into_iter().map(text).collect()
}

pub(crate) fn receive(
    subscriber: &mut Subscriber,
    text: &str,
    log: &mut Log,
) -> Result<Reception, ReceiveError> {
    subscriber.receive(now(), UP, &mut text.as_bytes().to_vec(), log)
}

fn set(cell: &Cell, value: impl Into<Variant>) {
    cell.set(&value.into(), StatusCode::Good, DateTime::now())
        .unwrap();
}

pub(crate) fn names_and_values(fields: &[(&str, Variant)]) -> Fields {
    let owned = |(name, value): &(&str, Variant)| ((*name).to_owned(), value.clone());
    fields.iter().map(owned).collect()
}

#[test]
fn every_layout_and_encoding_arrives() {
    let values = [
        Variant::Int16(-3),
        Variant::from(vec![1.5_f64, 2.5]),
        Variant::from("text"),
    ];
    let status_and_time =
        DataSetFieldContentMask::StatusCode | DataSetFieldContentMask::SourceTimestamp;
    for layout in 0..8 {
        for encoding in [0, DataSetMask::FieldEncoding1, DataSetMask::FieldEncoding2] {
            for fields in [0, DataSetFieldContentMask::RawData, status_and_time] {
                let header = DataSetMask::DataSetWriterId | DataSetMask::SequenceNumber;
                let mask = layout | Mask::PublisherId;
                let mut setup = setup(&values, mask, header | encoding);
                setup.writer().data_set_field_content_mask = fields;
                let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
                let mut log = Log::default();
                for step in 1..4_i16 {
                    set(&setup.cell(0), step);
                    let texts = texts(&mut group, now());
                    assert_eq!(texts.len(), 1);
                    let reception = receive(&mut subscriber, &texts[0], &mut log).unwrap();
                    assert_eq!(reception.accepted, 1, "{}", texts[0]);
                    let received = setup.target(0).get().unwrap();
                    assert_eq!(received.value, Some(Variant::Int16(step)), "{}", texts[0]);
                    let source = setup.cell(0).get().unwrap().source_timestamp;
                    if fields == status_and_time {
                        assert_eq!(received.source_timestamp, source);
                    }
                    let has_header = layout & Mask::DataSetMessageHeader != 0;
                    let number = has_header.then_some(step as u32 - 1);
                    let expected = [
                        ("A", Variant::Int16(step)),
                        ("B", values[1].clone()),
                        ("C", values[2].clone()),
                    ];
                    let expected = (DataSetKind::KeyFrame, number, names_and_values(&expected));
                    assert_eq!(log.data_sets.last(), Some(&expected));
                }
                assert_eq!(subscriber.reader_state(0, UP), Some(UP));
            }
        }
    }
}

#[test]
fn delta_frames_have_what_changed_and_keep_alives_nothing() {
    let values = [Variant::UInt32(1), Variant::Boolean(false)];
    let mut setup = setup(&values, HEADERS, DATA_SET_HEADER);
    setup.writer().key_frame_count = 10;
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let mut log = Log::default();
    let start = now();
    let mut pass = |group: &mut WriterGroup, milliseconds: u64| {
        let instant = start.instant + Duration::from_millis(milliseconds);
        let texts = texts(group, Now { instant, ..start });
        for text in &texts {
            receive(&mut subscriber, text, &mut log).unwrap();
        }
        texts.concat()
    };
    pass(&mut group, 0);
    assert_eq!(pass(&mut group, 10), "");
    set(&setup.cell(1), true);
    let delta = pass(&mut group, 20);
    assert!(
        delta.contains(r#""MessageType":"ua-deltaframe""#),
        "{delta}"
    );
    assert!(!delta.contains(r#""A""#), "{delta}");
    let keep_alive = pass(&mut group, 130);
    assert!(!keep_alive.contains("Payload"), "{keep_alive}");
    let expected = [
        (
            DataSetKind::KeyFrame,
            Some(0),
            names_and_values(&[("A", values[0].clone()), ("B", values[1].clone())]),
        ),
        (
            DataSetKind::DeltaFrame,
            Some(1),
            names_and_values(&[("B", Variant::Boolean(true))]),
        ),
        (DataSetKind::KeepAlive, Some(2), Vec::new()),
    ];
    assert_eq!(log.data_sets, expected);
    assert_eq!(setup.target(1).get().unwrap().value, Some(true.into()));
    // Without a header, there is no keep-alive.
    let mut setup = self::setup(&values, Mask::SingleDataSetMessage, 0);
    setup.writer().key_frame_count = 10;
    let mut group = setup.build();
    assert_eq!(texts(&mut group, start).len(), 1);
    let instant = start.instant + Duration::from_secs(1);
    assert_eq!(texts(&mut group, Now { instant, ..start }).len(), 0);
}

#[test]
fn events_are_received() {
    let mut setup = setup(&[Variant::UInt32(0)], HEADERS, DATA_SET_HEADER);
    setup.writer().key_frame_count = 0;
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    assert!(group.queue_event(7, vec![Variant::UInt32(5)]));
    let mut log = Log::default();
    let texts = texts(&mut group, now());
    receive(&mut subscriber, &texts[0], &mut log).unwrap();
    let fields = names_and_values(&[("A", Variant::UInt32(5))]);
    assert_eq!(log.data_sets, [(DataSetKind::Event, Some(0), fields)]);
}

#[test]
fn headers_follow_the_masks() {
    let data_set_mask = DATA_SET_HEADER
        | DataSetMask::DataSetWriterName
        | DataSetMask::PublisherId
        | DataSetMask::WriterGroupName
        | DataSetMask::Timestamp
        | DataSetMask::Status;
    let header = r#""DataSetWriterId":7,"DataSetWriterName":"Writer","#;
    let rest = r#""SequenceNumber":0,"MetaDataVersion":{"MajorVersion":0,"MinorVersion":0},"Timestamp":"2019-04-17T18:40:00Z","MessageType":"ua-keyframe","Payload":{"A":{"UaType":7,"Value":1}}}"#;
    let mut setup = setup(&[Variant::UInt32(1)], HEADERS, data_set_mask);
    let text = texts(&mut setup.build(), now()).concat();
    let (id, after) = text
        .strip_prefix(r#"{"MessageId":""#)
        .and_then(|rest| rest.split_once('"'))
        .unwrap();
    assert!(id.ends_with("-1"), "{id}");
    let expected = format!(
        r#","MessageType":"ua-data","PublisherId":"4","Messages":[{{{header}"WriterGroupName":"Group",{rest}]}}"#
    );
    assert_eq!(after, expected);
    // Without the NetworkMessage header, the DataSetMessage has the identity of its writer.
    let single = Mask::DataSetMessageHeader | Mask::SingleDataSetMessage;
    let mut setup = self::setup(&[Variant::UInt32(1)], single, data_set_mask);
    let text = texts(&mut setup.build(), now()).concat();
    let expected = format!(r#"{{{header}"PublisherId":"4","WriterGroupName":"Group",{rest}"#);
    assert_eq!(text, expected);
}

#[test]
fn long_messages_are_divided_between_data_set_messages() {
    let mut setup = setup(&[Variant::from("x".repeat(40))], HEADERS, DATA_SET_HEADER);
    let second = setup.writer().clone();
    setup.group.data_set_writers.push(second);
    setup.group.data_set_writers[1].data_set_writer_id = 8;
    let together = texts(&mut setup.build(), now());
    assert_eq!(together.len(), 1);
    setup.group.max_network_message_size = together[0].len() as u32 - 1;
    let mut group = setup.build();
    let apart = texts(&mut group, now());
    assert_eq!(apart.len(), 2);
    assert!(
        apart[0].contains(r#""DataSetWriterId":7"#) && apart[1].contains(r#""DataSetWriterId":8"#)
    );
    let mut subscriber = setup.build_subscriber();
    for (text, accepted) in apart.iter().zip([1, 0]) {
        let reception = receive(&mut subscriber, text, &mut Log::default()).unwrap();
        assert_eq!(reception.accepted, accepted);
    }
    setup.group.max_network_message_size = 100;
    let mut group = setup.build();
    let error = group.publish(now(), UP, &mut Vec::<Vec<u8>>::new());
    assert!(
        matches!(error, Err(PublishError::TooLong { limit: 100, .. })),
        "{error:?}"
    );
    assert_eq!(group.writer_state(0, UP), Some(PubSubState::Error));
}

#[test]
fn json_has_no_security() {
    let mut setup = setup(&[Variant::UInt32(1)], HEADERS, DATA_SET_HEADER);
    setup.protect(MessageSecurityMode::Sign);
    let data_sets = std::slice::from_ref(&setup.data_set);
    let error = WriterGroup::new(&setup.connection, &setup.group, data_sets, &mut setup.cells);
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("Group: SecurityMode: "), "{error}");
    // A reader of protected messages accepts no others.
    let mut subscriber = setup.build_subscriber();
    setup.protect(MessageSecurityMode::None);
    let texts = texts(&mut setup.build(), now());
    let reception = receive(&mut subscriber, &texts[0], &mut Log::default()).unwrap();
    assert_eq!(reception.accepted, 0);
}

fn version_1_04(fields: &str, number: u32) -> String {
    format!(
        r#" {{"MessageId":"m","MessageType":"ua-data","PublisherId":"4","Messages":[{{"DataSetWriterId":"7","SequenceNumber":{number},"MetaDataVersion":{{"MajorVersion":1,"MinorVersion":2}},"Payload":{fields}}}]}}"#
    )
}

#[test]
fn messages_of_version_1_04_and_sloppy_ones_are_read() {
    let values = [Variant::UInt32(1), Variant::Boolean(false)];
    let mut setup = setup(&values, HEADERS, DATA_SET_HEADER);
    let mut subscriber = setup.build_subscriber();
    let mut log = Log::default();
    let mut pass = |fields: &str, number| {
        let text = version_1_04(fields, number);
        receive(&mut subscriber, &text, &mut log).map(|reception| reception.accepted)
    };
    // Fields are reversible and not, in any order, and some are unknown. Numbers are longer than those of UADP.
    let accepted = pass(
        r#"{"B":{"Type":1,"Body":true},"A":{"Type":7,"Body":8}}"#,
        70_000,
    );
    assert_eq!(accepted, Ok(1));
    assert_eq!(pass(r#"{"X":1,"A":9}"#, 70_001), Ok(1));
    assert_eq!(pass(r#"{"A":10}"#, 70_001), Ok(0));
    assert_eq!(
        setup.target(0).get().unwrap().value,
        Some(Variant::UInt32(9))
    );
    assert_eq!(setup.target(1).get().unwrap().value, Some(true.into()));
    let error = pass(r#"{"X":1}"#, 70_002).unwrap_err();
    assert!(
        matches!(&error, ReceiveError::FieldName { name, .. } if name == "X"),
        "{error}"
    );
    assert_eq!(pass(r#"{"A":"ten"}"#, 70_003), Ok(1));
    let status = setup.target(0).get().unwrap().status_code();
    assert_eq!(status, StatusCode::BadDecodingError);
    let error = receive(&mut subscriber, r#"{"A":"#, &mut log).unwrap_err();
    assert!(matches!(&error, ReceiveError::Json(_)), "{error}");
    assert_eq!(log.data_sets.len(), 3);
    assert_eq!(log.data_sets[0].1, Some(70_000));
}

#[test]
fn fields_may_be_named_like_headers() {
    let values = [Variant::UInt32(1), Variant::UInt32(2)];
    let mask = DataSetMask::FieldEncoding1;
    let mut setup = setup(&values, Mask::SingleDataSetMessage, mask);
    for meta_data in [
        &mut setup.data_set.data_set_meta_data,
        &mut setup.reader.data_set_meta_data,
    ] {
        meta_data.fields[0].name = "Payload".into();
        meta_data.fields[1].name = "Status".into();
    }
    let text = texts(&mut setup.build(), now()).concat();
    let mut subscriber = setup.build_subscriber();
    let reception = receive(&mut subscriber, &text, &mut Log::default()).unwrap();
    assert_eq!(reception.accepted, 1, "{text}");
    assert_eq!(
        setup.target(0).get().unwrap().value,
        Some(values[0].clone())
    );
}

#[test]
fn messages_of_other_writers_are_not_received() {
    let mut setup = setup(&[Variant::UInt32(1)], HEADERS, DATA_SET_HEADER);
    let data = texts(&mut setup.build(), now()).concat();
    let count = |reader: &dyn Fn(&mut DataSetReaderDataType), text: &str| {
        let mut setup = self::setup(&[Variant::UInt32(1)], HEADERS, DATA_SET_HEADER);
        reader(&mut setup.reader);
        let mut subscriber = setup.build_subscriber();
        receive(&mut subscriber, text, &mut Log::default())
            .map(|reception| reception.accepted)
            .unwrap()
    };
    assert_eq!(count(&|_| {}, &data), 1);
    // Numbers of any type are compared as texts.
    assert_eq!(
        count(&|reader| reader.publisher_id = Variant::UInt64(4), &data),
        1
    );
    assert_eq!(count(&|reader| reader.publisher_id = "4".into(), &data), 1);
    assert_eq!(
        count(&|reader| reader.publisher_id = Variant::UInt16(5), &data),
        0
    );
    assert_eq!(count(&|reader| reader.data_set_writer_id = 8, &data), 0);
    // A reader without MessageSettings accepts both mappings.
    let any = |reader: &mut DataSetReaderDataType| reader.message_settings = ExtensionObject::NULL;
    assert_eq!(count(&any, &data), 1);
    assert_eq!(count(&|_| {}, r#"[{"Other":1}]"#), 0);
    let uadp = Setup::new(&[Variant::UInt32(1)]).reader.message_settings;
    assert_eq!(
        count(&|reader| reader.message_settings = uadp.clone(), &data),
        0
    );
}

/// A message of a stranger has more DataSetWriters than readers can be made: those that it has made are kept, and the work for the
/// others is little.
#[test]
fn a_message_of_many_writers_makes_readers_once() {
    #[derive(Default)]
    struct Forgotten(usize);
    impl SubscriberObserver for Forgotten {
        fn forgotten(&mut self, _: &str) {
            self.0 += 1;
        }
    }
    let mut subscriber = Subscriber::discovering(20);
    let messages = |ids: std::ops::Range<u32>| {
        let one = |id| format!("{{\"DataSetWriterId\":{id},\"Payload\":{{\"A\":1}}}}");
        let all: Vec<String> = ids.map(one).collect();
        let head = "\"MessageId\":\"m\",\"MessageType\":\"ua-data\",\"PublisherId\":\"p\"";
        format!("{{{head},\"Messages\":[{}]}}", all.join(","))
    };
    let mut forgotten = Forgotten::default();
    let mut receive = |text: String| {
        let mut bytes = text.into_bytes();
        let received = subscriber.receive(now(), UP, &mut bytes, &mut forgotten);
        let unclaimed = subscriber.losses().of(LossCause::Unclaimed);
        (received.unwrap().accepted, unclaimed, forgotten.0)
    };
    assert_eq!(receive(messages(0..2000)), (20, 1980, 0));
    // Another message may take their places.
    assert_eq!(receive(messages(3000..3005)), (5, 1980, 5));
}
