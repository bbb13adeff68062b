use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_cell::Cell;
use takt_ua::enumerations::{
    DataSetFieldContentMask, MessageSecurityMode, OverrideValueHandling, PubSubState,
};
use takt_ua::structures::{
    ConfigurationVersionDataType, DataSetMetaDataType, FieldTargetDataType, TargetVariablesDataType,
};
use takt_ua::{ByteString, DateTime, ExtensionObject, NodeId, StatusCode, Variant};
use takt_wire::{AnnouncementContent, DiscoveryAnnouncement, NetworkMessage, Payload, PublisherId};

use crate::support::{Setup, keys, now};
use takt_pubsub::Now;
use takt_pubsub::ReceiveError;
use takt_pubsub::publisher::WriterGroup;
use takt_pubsub::subscriber::*;

const UP: PubSubState = PubSubState::Operational;

/// Message that a reader has received.
struct Entry {
    kind: DataSetKind,
    number: Option<u32>,
    missing: u32,
    fields: Vec<(usize, Variant)>,
}

/// Observer that keeps its events.
#[derive(Default)]
struct Log {
    data_sets: Vec<Entry>,
    states: Vec<PubSubState>,
    announcements: usize,
    forgotten: Vec<String>,
}

impl SubscriberObserver for Log {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let fields = received.fields();
        let fields = fields.map(|(index, value)| (index, value.value.unwrap_or_default()));
        self.data_sets.push(Entry {
            kind: received.kind,
            number: received.sequence_number,
            missing: received.missing,
            fields: fields.collect(),
        });
    }

    fn state_changed(&mut self, _: &str, state: PubSubState) {
        self.states.push(state);
    }

    fn forgotten(&mut self, reader: &str) {
        self.forgotten.push(reader.to_owned());
    }

    fn announced(&mut self, _: takt_wire::PublisherIdRef<'_>, _: &DiscoveryAnnouncement) {
        self.announcements += 1;
    }
}

fn messages(group: &mut WriterGroup, now: Now) -> Vec<Vec<u8>> {
    let mut output = Vec::new();
    group.publish(now, UP, &mut output).unwrap();
    output
}

/// Publishes once, and receives the messages.
fn pass(
    group: &mut WriterGroup,
    subscriber: &mut Subscriber,
    now: Now,
    log: &mut Log,
) -> Reception {
    let mut last = Reception::default();
    for mut message in messages(group, now) {
        last = subscriber.receive(now, UP, &mut message, log).unwrap();
    }
    last
}

fn set(cell: &Cell, value: impl Into<Variant>) {
    cell.set(&value.into(), StatusCode::Good, DateTime::now())
        .unwrap();
}

#[test]
fn messages_take_the_fast_path_from_the_second_one_on() {
    use DataSetFieldContentMask as Mask;
    let values = [
        Variant::UInt32(0),
        Variant::from(vec![0.0_f64; 3]),
        Variant::Boolean(false),
    ];
    for mask in [0, Mask::RawData, Mask::StatusCode | Mask::SourceTimestamp] {
        let values = if mask == Mask::RawData {
            &values[..1]
        } else {
            &values[..]
        };
        let mut setup = Setup::new(values);
        setup.writer().data_set_field_content_mask = mask;
        let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
        let mut log = Log::default();
        for step in 1..6_u32 {
            set(&setup.cell(0), step * 70_000);
            if mask != Mask::RawData {
                set(&setup.cell(1), vec![f64::from(step); 3]);
                set(&setup.cell(2), step % 2 == 0);
            }
            let reception = pass(&mut group, &mut subscriber, now(), &mut log);
            assert_eq!(
                reception,
                Reception {
                    accepted: 1,
                    fixed: step > 1,
                    ..Reception::default()
                },
                "mask {mask}"
            );
            let found = |index| setup.target(index).get().unwrap();
            assert_eq!(found(0).value, Some(Variant::UInt32(step * 70_000)));
            if mask & Mask::SourceTimestamp != 0 {
                let sent = setup.cell(0).get().unwrap().source_timestamp;
                assert_eq!(found(0).source_timestamp, sent);
            }
            if mask != Mask::RawData {
                assert_eq!(
                    found(1).value,
                    Some(Variant::from(vec![f64::from(step); 3]))
                );
                assert_eq!(found(2).value, Some(Variant::Boolean(step % 2 == 0)));
            }
            let last = log.data_sets.last().unwrap();
            let numbers = (Some(step - 1), 0);
            assert_eq!(last.kind, DataSetKind::KeyFrame);
            assert_eq!((last.number, last.missing), numbers);
            assert_eq!(last.fields.len(), values.len());
            assert_eq!(last.fields[0], (0, Variant::UInt32(step * 70_000)));
        }
        assert_eq!(
            log.states,
            [PubSubState::PreOperational, PubSubState::Operational][1..]
        );
        assert_eq!(subscriber.readers()[0].statistics().received, 5);
    }
}

/// Values that change their lengths take the general path, until some in succession have one length.
#[test]
fn texts_and_arrays_take_the_fast_path_while_they_keep_their_lengths() {
    use DataSetFieldContentMask as Mask;
    let values = [
        "abc".into(),
        ByteString::from(vec![1; 7]).into(),
        vec![0_u16; 2].into(),
    ];
    for mask in [0, Mask::StatusCode | Mask::SourceTimestamp] {
        let mut setup = Setup::new(&values);
        setup.writer().data_set_field_content_mask = mask;
        let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
        let mut log = Log::default();
        let mut step = 0_u8;
        let mut paths = |length: usize, count: usize| {
            let paths = (0..count).map(|_| {
                step += 1;
                let text = char::from(b'a' + step % 26).to_string().repeat(length);
                let values: [Variant; 3] = [
                    text.as_str().into(),
                    ByteString::from(vec![step; length]).into(),
                    vec![u16::from(step); length].into(),
                ];
                for (index, value) in (0..).zip(&values) {
                    set(&setup.cell(index), value.clone());
                }
                let mut output: Vec<Vec<u8>> = Vec::new();
                let published = group.publish(now(), UP, &mut output).unwrap();
                let received = subscriber
                    .receive(now(), UP, &mut output[0], &mut log)
                    .unwrap();
                for (index, value) in (0..).zip(values) {
                    assert_eq!(setup.target(index).get().unwrap().value, Some(value));
                }
                let fields = &log.data_sets.last().unwrap().fields;
                assert_eq!(fields[0].1, text.as_str().into());
                (published.fixed, usize::from(received.fixed))
            });
            let paths: Vec<_> = paths.collect();
            let sum = |one: fn(&(usize, usize)) -> usize| paths.iter().map(one).sum::<usize>();
            [sum(|it| it.0), sum(|it| it.1)]
        };
        // The Publisher has built the layout of the first values, which have other lengths.
        assert_eq!(paths(5, 6), [3, 5], "{mask}");
        assert_eq!(paths(0, 6), [3, 5], "{mask}");
        for length in 6..16 {
            assert_eq!(paths(length, 2)[0], 0, "{mask} {length}");
        }
        assert_eq!(paths(20, 6), [3, 3], "{mask}");
        assert_eq!(paths(5, 6)[0], 3, "{mask}");
        assert_eq!(paths(20, 6)[0], 3, "{mask}");
    }
}

/// RawData has the lengths of texts and padding between the values.
#[test]
fn texts_of_raw_data_are_received() {
    let values = [
        Variant::UInt32(1),
        "abc".into(),
        ByteString::from(vec![1; 4]).into(),
    ];
    let mut setup = Setup::new(&values);
    setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
    for field in &mut setup.data_set.data_set_meta_data.fields {
        field.max_string_length = 8;
    }
    setup.reader.data_set_meta_data = setup.data_set.data_set_meta_data.clone();
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let mut log = Log::default();
    for step in 1..8_u8 {
        let values: [Variant; 3] = [
            u32::from(step).into(),
            "x".repeat(step.into()).as_str().into(),
            ByteString::from(vec![step; 4]).into(),
        ];
        for (index, value) in (0..).zip(&values) {
            set(&setup.cell(index), value.clone());
        }
        let received = pass(&mut group, &mut subscriber, now(), &mut log);
        assert_eq!(received.fixed, step > 1);
        for (index, value) in (0..).zip(values) {
            assert_eq!(
                setup.target(index).get().unwrap().value,
                Some(value),
                "{step}"
            );
        }
    }
}

/// The dimensions of an array are not lost.
#[test]
fn arrays_of_several_dimensions_are_received() {
    let matrix = |first| -> Variant {
        takt_ua::Array {
            dimensions: vec![2, 2],
            ..takt_ua::Array::new(takt_ua::Elements::UInt16(vec![first, 2, 3, 4]))
        }
        .into()
    };
    let mut setup = Setup::new(&[matrix(0)]);
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let mut log = Log::default();
    for step in 1..5 {
        set(&setup.cell(0), matrix(step));
        pass(&mut group, &mut subscriber, now(), &mut log);
        assert_eq!(setup.target(0).get().unwrap().value, Some(matrix(step)));
    }
}

#[test]
fn a_bad_value_leaves_the_fast_path_and_comes_back() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let mut log = Log::default();
    let fixed =
        |group: &mut _, subscriber: &mut _, log: &mut _| pass(group, subscriber, now(), log).fixed;
    assert!(!fixed(&mut group, &mut subscriber, &mut log));
    assert!(fixed(&mut group, &mut subscriber, &mut log));
    setup
        .cell(0)
        .set_status(StatusCode::BadSensorFailure, DateTime::now())
        .unwrap();
    assert!(!fixed(&mut group, &mut subscriber, &mut log));
    let found = setup.target(0).get().unwrap();
    assert_eq!(
        (found.value, found.status),
        (None, Some(StatusCode::BadSensorFailure))
    );
    set(&setup.cell(0), 7_u32);
    assert!(fixed(&mut group, &mut subscriber, &mut log));
    assert_eq!(
        setup.target(0).get().unwrap().value,
        Some(Variant::UInt32(7))
    );
}

#[test]
fn deltas_keep_alives_and_chunks_are_received() {
    let mut setup = Setup::new(&[Variant::UInt32(1), Variant::UInt32(2)]);
    setup.writer().key_frame_count = 100;
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let mut log = Log::default();
    let mut time = now();
    pass(&mut group, &mut subscriber, time, &mut log);
    set(&setup.cell(1), 5_u32);
    pass(&mut group, &mut subscriber, time, &mut log);
    time.instant += Duration::from_millis(100);
    pass(&mut group, &mut subscriber, time, &mut log);
    let kinds: Vec<_> = log.data_sets.iter().map(|entry| entry.kind).collect();
    assert_eq!(
        kinds,
        [
            DataSetKind::KeyFrame,
            DataSetKind::DeltaFrame,
            DataSetKind::KeepAlive
        ]
    );
    assert_eq!(log.data_sets[1].fields, [(1, Variant::UInt32(5))]);
    assert_eq!(
        setup.target(1).get().unwrap().value,
        Some(Variant::UInt32(5))
    );

    let long = Variant::from(vec![3_u8; 2000]);
    let mut setup = Setup::new(std::slice::from_ref(&long));
    setup.group.max_network_message_size = 500;
    setup.received = [(NodeId::numeric(1, 0), Arc::new(Cell::new(3000)))].into();
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let reception = pass(&mut group, &mut subscriber, now(), &mut Log::default());
    assert_eq!(reception.accepted, 1);
    assert_eq!(setup.target(0).get().unwrap().value, Some(long));
}

#[test]
fn a_delta_before_the_first_key_frame_is_incomplete() {
    let mut setup = Setup::new(&[Variant::UInt32(1), Variant::UInt32(2)]);
    setup.writer().key_frame_count = 100;
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    messages(&mut group, now());
    set(&setup.cell(1), 5_u32);
    let reception = pass(&mut group, &mut subscriber, now(), &mut Log::default());
    assert_eq!(reception.accepted, 0);
    assert_eq!(
        subscriber.reader_state(0, UP),
        Some(PubSubState::PreOperational)
    );
}

#[test]
fn messages_come_once_and_in_order() {
    let mut setup = Setup::new(&[Variant::UInt32(0)]);
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let mut log = Log::default();
    let sent: Vec<_> = (0..6_u32)
        .map(|step| {
            set(&setup.cell(0), step);
            messages(&mut group, now()).remove(0)
        })
        .collect();
    for index in [0, 1, 1, 4, 3, 5] {
        subscriber
            .receive(now(), UP, &mut sent[index].clone(), &mut log)
            .unwrap();
    }
    let values: Vec<_> = log
        .data_sets
        .iter()
        .map(|entry| (entry.number, entry.missing))
        .collect();
    assert_eq!(
        values,
        [(Some(0), 0), (Some(1), 0), (Some(4), 2), (Some(5), 0)]
    );
    let statistics = subscriber.readers()[0].statistics();
    assert_eq!(
        (
            statistics.received,
            statistics.missing,
            statistics.discarded
        ),
        (4, 2, 2)
    );
}

/// A forged message with a number far ahead, and the messages of the true Publisher behind it.
#[test]
fn a_forged_number_does_not_block_a_reader() {
    for (mode, expected) in [
        (MessageSecurityMode::None, vec![0, 1, 5, 6]),
        // Nobody forges protected messages, but anybody may hold them back, and deliver older ones later.
        (MessageSecurityMode::Sign, vec![0, 1]),
    ] {
        let mut setup = Setup::new(&[Variant::UInt32(0)]);
        setup.protect(mode);
        let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
        group.set_keys(&keys(1, Instant::now()));
        subscriber.set_keys("Keys", &keys(1, Instant::now()));
        let mut log = Log::default();
        let sent: Vec<_> = (0..40_u32)
            .map(|step| {
                set(&setup.cell(0), step);
                messages(&mut group, now()).remove(0)
            })
            .collect();
        for index in [0, 1, 35, 4, 5, 6] {
            subscriber
                .receive(now(), UP, &mut sent[index].clone(), &mut log)
                .unwrap();
        }
        let mut found: Vec<_> = log.data_sets.iter().filter_map(|it| it.number).collect();
        found.retain(|number| *number != 35);
        assert_eq!(found, expected, "{mode:?}");
        let value = setup.target(0).get().unwrap().value;
        let last = if mode == MessageSecurityMode::None {
            6
        } else {
            35
        };
        assert_eq!(value, Some(Variant::UInt32(last)));
    }
}

#[test]
fn only_configured_messages_are_received() {
    for change in 0..4 {
        let mut setup = Setup::new(&[Variant::UInt32(0)]);
        match change {
            0 => setup.reader.publisher_id = Variant::UInt16(5),
            1 => setup.reader.writer_group_id = 4,
            2 => setup.reader.data_set_writer_id = 8,
            _ => setup.reader.enabled = false,
        }
        let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
        let reception = pass(&mut group, &mut subscriber, now(), &mut Log::default());
        assert_eq!(reception.accepted, 0, "change {change}");
    }
    // Null matches any PublisherId, and a number matches in any size.
    for publisher_id in [Variant::Empty, Variant::UInt64(4), Variant::Byte(4)] {
        let mut setup = Setup::new(&[Variant::UInt32(0)]);
        setup.reader.publisher_id = publisher_id;
        setup.reader.writer_group_id = 0;
        setup.reader.data_set_writer_id = 0;
        let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
        let reception = pass(&mut group, &mut subscriber, now(), &mut Log::default());
        assert_eq!(reception.accepted, 1);
    }
}

#[test]
fn silence_is_an_error_until_the_next_message() {
    let mut setup = Setup::new(&[Variant::UInt32(3)]);
    setup.reader.subscribed_data_set = ExtensionObject::from_structure(&TargetVariablesDataType {
        target_variables: vec![FieldTargetDataType {
            target_node_id: NodeId::numeric(1, 0),
            override_value_handling: OverrideValueHandling::LastUsableValue,
            ..FieldTargetDataType::default()
        }],
    });
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let mut log = Log::default();
    let mut time = now();
    assert_eq!(subscriber.next_timeout(), None, "nothing has come yet");
    pass(&mut group, &mut subscriber, time, &mut log);
    let timeout = time.instant + Duration::from_millis(200);
    assert_eq!(subscriber.next_timeout(), Some(timeout));
    time.instant = timeout;
    subscriber.handle_timeout(time, UP, &mut log);
    assert_eq!(log.states.last(), Some(&PubSubState::Error));
    let found = setup.target(0).get().unwrap();
    assert_eq!(found.value, Some(Variant::UInt32(3)));
    assert_eq!(found.status, Some(StatusCode::UncertainLastUsableValue));
    pass(&mut group, &mut subscriber, time, &mut log);
    assert_eq!(log.states.last(), Some(&PubSubState::Operational));
    assert_eq!(
        setup.target(0).get().unwrap().status_code(),
        StatusCode::Good
    );
    // A connection that is down does not pause readers, but they receive no messages.
    subscriber.handle_timeout(time, PubSubState::Error, &mut log);
    assert_eq!(log.states.last(), Some(&PubSubState::PreOperational));
}

#[test]
fn other_metadata_is_refused_until_the_publisher_announces_it() {
    let mut setup = Setup::new(&[Variant::UInt32(3)]);
    let version = |major_version| ConfigurationVersionDataType {
        major_version,
        minor_version: 1,
    };
    setup.reader.data_set_meta_data.configuration_version = version(1);
    setup.data_set.data_set_meta_data.configuration_version = version(2);
    let mask = takt_ua::enumerations::UadpDataSetMessageContentMask::MajorVersion;
    setup.writer().message_settings =
        ExtensionObject::from_structure(&takt_ua::structures::UadpDataSetWriterMessageDataType {
            data_set_message_content_mask: mask,
            ..Default::default()
        });
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let mut log = Log::default();
    let message = messages(&mut group, now()).remove(0);
    let error = subscriber
        .receive(now(), UP, &mut message.clone(), &mut log)
        .unwrap_err();
    assert!(
        matches!(
            error,
            ReceiveError::MetaDataVersion {
                expected: 1,
                found: 2,
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(subscriber.reader_state(0, UP), Some(PubSubState::Error));

    let announcement = DiscoveryAnnouncement {
        sequence_number: 0,
        content: AnnouncementContent::DataSetMetaData {
            data_set_writer_id: 7,
            meta_data: Box::new(setup.data_set.data_set_meta_data.clone()),
            status_code: StatusCode::Good,
        },
    };
    let announcement = NetworkMessage::discovery(
        PublisherId::UInt16(4),
        Payload::DiscoveryAnnouncement(Box::new(announcement)),
    );
    let announcement = announcement.encode_to_vec().unwrap();
    subscriber
        .receive(now(), UP, &mut announcement.clone(), &mut log)
        .unwrap();
    assert_eq!(log.announcements, 1);
    assert_eq!(
        subscriber
            .receive(now(), UP, &mut message.clone(), &mut log)
            .unwrap()
            .accepted,
        1
    );
    assert_eq!(
        subscriber.reader_state(0, UP),
        Some(PubSubState::Operational)
    );
}

#[test]
fn a_reader_without_metadata_reads_self_describing_fields() {
    let mut setup = Setup::new(&[Variant::UInt32(3)]);
    setup.reader.data_set_meta_data = DataSetMetaDataType::default();
    setup.reader.subscribed_data_set = ExtensionObject::NULL;
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let mut log = Log::default();
    pass(&mut group, &mut subscriber, now(), &mut log);
    assert_eq!(log.data_sets[0].fields, [(0, Variant::UInt32(3))]);
    // More fields than in the metadata are otherwise an error.
    let mut setup = Setup::new(&[Variant::UInt32(3), Variant::UInt32(4)]);
    setup.reader.data_set_meta_data.fields.truncate(1);
    setup.reader.subscribed_data_set = ExtensionObject::NULL;
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let message = messages(&mut group, now()).remove(0);
    let error = subscriber
        .receive(now(), UP, &mut message.clone(), &mut log)
        .unwrap_err();
    assert!(
        matches!(
            error,
            ReceiveError::Field {
                index: 1,
                count: 1,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn noise_is_an_error_and_nothing_else() {
    let mut setup = Setup::new(&[Variant::UInt32(3)]);
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let message = messages(&mut group, now()).remove(0);
    for length in 0..message.len() {
        let mut log = Log::default();
        let outcome = subscriber.receive(now(), UP, &mut message[..length].to_vec(), &mut log);
        assert!(outcome.is_err(), "{length}");
        assert!(log.data_sets.is_empty());
    }
}

#[test]
fn readers_are_made_for_announced_writers() {
    let mut setup = Setup::new(&[Variant::UInt32(3)]);
    let mut group = setup.build();
    let mut subscriber = Subscriber::discovering(1);
    let mut log = Log::default();
    for step in 0..3 {
        let reception = pass(&mut group, &mut subscriber, now(), &mut log);
        assert_eq!(
            reception,
            Reception {
                accepted: 1,
                fixed: step > 0,
                ..Reception::default()
            }
        );
    }
    assert_eq!(subscriber.readers()[0].name(), "4/3/7");
    assert_eq!(log.data_sets[2].fields, [(0, Variant::UInt32(3))]);
    // At the limit, the reader makes room for another one; their layouts are not mixed up.
    setup.connection.publisher_id = Variant::UInt16(5);
    let mut other = setup.build();
    for (group, name) in [(&mut other, "5/3/7"), (&mut group, "4/3/7")] {
        for step in 0..3 {
            let reception = pass(group, &mut subscriber, now(), &mut log);
            assert_eq!((reception.accepted, reception.fixed), (1, step > 0));
            let names: Vec<_> = subscriber
                .readers()
                .iter()
                .map(DataSetReader::name)
                .collect();
            assert_eq!(names, [name]);
        }
    }
    assert_eq!(log.forgotten, ["4/3/7", "5/3/7"]);
}
