//! The quality of fields: a cell whose [deadline](takt_cell::Cell::deadline) is over is Uncertain in each encoding that can say so.

use std::time::{Duration, Instant};

use takt_cell::Cell;
use takt_pubsub::publisher::WriterGroup;
use takt_pubsub::subscriber::{
    FieldTarget, ReceivedDataSet, SubscribedField, Subscriber, SubscriberObserver,
};
use takt_pubsub::{LossCause, Now, ReceiveError};
use takt_ua::enumerations::{
    DataSetFieldContentMask as FieldMask, JsonDataSetMessageContentMask as JsonMask, PubSubState,
    UadpDataSetMessageContentMask as UadpMask,
};
use takt_ua::structures::{
    ConfigurationVersionDataType, UadpDataSetReaderMessageDataType,
    UadpDataSetWriterMessageDataType,
};
use takt_ua::{DateTime, ExtensionObject, StatusCode, Variant};

use takt_wire::{AnnouncementContent, DiscoveryAnnouncement, NetworkMessage, Payload, PublisherId};

use super::json;
use crate::support::{Setup, now};

const UP: PubSubState = PubSubState::Operational;

/// Time limit of a mark, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Observer that keeps the statuses of DataSets and of their first fields.
#[derive(Default)]
struct Statuses(Vec<(StatusCode, Option<StatusCode>)>);

impl SubscriberObserver for Statuses {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let mut fields = received.fields().filter(|(index, _)| *index == 0);
        let status = fields.next().map(|(_, value)| value.status_code());
        self.0.push((received.status, status));
    }
}

/// Publishes once, and receives.
fn pass(group: &mut WriterGroup, subscriber: &mut Subscriber, now: Now, statuses: &mut Statuses) {
    let mut messages: Vec<Vec<u8>> = Vec::new();
    group.publish(now, UP, &mut messages).unwrap();
    for mut message in messages {
        subscriber.receive(now, UP, &mut message, statuses).unwrap();
    }
}

fn set(cell: &Cell, value: u32) {
    cell.set(&Variant::UInt32(value), StatusCode::Good, DateTime::now())
        .unwrap();
}

/// Waits until the value of a cell is marked.
fn let_it_stop(setup: &Setup) {
    let cell = setup.cell(0);
    cell.deadline(Duration::from_millis(5)).unwrap();
    let begin = Instant::now();
    while cell.reading().unwrap().status != StatusCode::UncertainLastUsableValue {
        assert!(begin.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
    // Sets from now on are not under time.
    cell.deadline(Duration::from_secs(3600)).unwrap();
}

/// Sets which header fields a DataSetMessage has at both sides.
fn with_header(mut setup: Setup, mask: u32) -> Setup {
    let writer = UadpDataSetWriterMessageDataType {
        data_set_message_content_mask: mask,
        ..UadpDataSetWriterMessageDataType::default()
    };
    setup.writer().message_settings = ExtensionObject::from_structure(&writer);
    let reader = &setup.reader.message_settings;
    let reader = UadpDataSetReaderMessageDataType {
        data_set_message_content_mask: mask,
        ..reader.decode_as().unwrap()
    };
    setup.reader.message_settings = ExtensionObject::from_structure(&reader);
    setup
}

#[test]
fn a_field_that_nobody_sets_is_uncertain_at_the_subscriber() {
    let last = StatusCode::UncertainLastUsableValue;
    let (all, class) = (Some(last), Some(StatusCode::Uncertain));
    let values = [Variant::UInt32(1), Variant::UInt32(2)];
    let uadp = |fields: u32, header: u32, key_frames: u32| {
        let mut setup = with_header(Setup::new(&values), header);
        setup.writer().data_set_field_content_mask = fields;
        setup.writer().key_frame_count = key_frames;
        setup
    };
    let json = |fields: u32, key_frames: u32| {
        let mut setup = json::setup(
            &values,
            json::HEADERS,
            json::DATA_SET_HEADER | JsonMask::Status,
        );
        setup.writer().data_set_field_content_mask = fields;
        setup.writer().key_frame_count = key_frames;
        setup
    };
    let status = UadpMask::SequenceNumber | UadpMask::Status;
    let stamped = FieldMask::StatusCode | FieldMask::SourceTimestamp;
    // A field of RawData has no status of its own, but the class of that of the DataSetMessage.
    let cases = [
        ("Variant", uadp(0, status, 1), all),
        ("Variant, delta frames", uadp(0, status, 100), all),
        (
            "Variant, no Status",
            uadp(0, UadpMask::SequenceNumber, 1),
            all,
        ),
        ("DataValue", uadp(stamped, status, 1), all),
        ("DataValue, delta frames", uadp(stamped, status, 100), all),
        ("RawData", uadp(FieldMask::RawData, status, 1), class),
        ("JSON", json(0, 1), all),
        ("JSON, delta frames", json(0, 100), all),
        ("JSON, DataValue", json(stamped, 1), all),
        ("JSON, RawData", json(FieldMask::RawData, 1), all),
        (
            "JSON, DataValue, only a time",
            json(FieldMask::SourceTimestamp, 1),
            all,
        ),
        (
            "DataValue, only a time",
            uadp(FieldMask::SourceTimestamp, status, 1),
            all,
        ),
    ];
    for (name, mut setup, expected) in cases {
        let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
        let mut statuses = Statuses::default();
        let mut time = now();
        // From the second message on, the fast path may make and take them.
        for value in 10..13 {
            set(&setup.cell(0), value);
            set(&setup.cell(1), value);
            pass(&mut group, &mut subscriber, time, &mut statuses);
            time.instant += Duration::from_millis(10);
        }
        let good = (StatusCode::Good, Some(StatusCode::Good));
        assert_eq!(statuses.0, [good; 3], "{name}");
        let_it_stop(&setup);
        statuses.0.clear();
        pass(&mut group, &mut subscriber, time, &mut statuses);
        let [(_, field)] = statuses.0[..] else {
            panic!("{name}: {:?}", statuses.0);
        };
        assert_eq!(field, expected, "{name}");
        let target = setup.target(0).get().unwrap();
        assert_eq!(target.value, Some(Variant::UInt32(12)), "{name}");
        assert_eq!(target.status, expected, "{name}");
        // The next value is good again.
        statuses.0.clear();
        set(&setup.cell(0), 13);
        time.instant += Duration::from_millis(10);
        pass(&mut group, &mut subscriber, time, &mut statuses);
        assert_eq!(statuses.0, [good], "{name}");
        let target = setup.target(0).get().unwrap();
        assert_eq!(target.value, Some(Variant::UInt32(13)), "{name}");
    }
}

/// Publishes with each of these in turn, to one subscriber; a second later, as after a restart. Returns the last status of its
/// target with this index.
fn last_status(publishers: [&mut Setup; 2], subscriber: &mut Subscriber, index: u32) -> StatusCode {
    let mut time = now();
    let [first, _] = &publishers;
    let target = first.target(index);
    for setup in publishers {
        let mut group = setup.build();
        for _ in 0..5 {
            time.instant += Duration::from_millis(10);
            let mut messages: Vec<Vec<u8>> = Vec::new();
            group.publish(time, UP, &mut messages).unwrap();
            for mut message in messages {
                // A value that cannot be written is an error.
                let _ = subscriber.receive(time, UP, &mut message, &mut Statuses::default());
            }
        }
        time.instant += Duration::from_secs(1);
    }
    target.get().unwrap().status_code()
}

#[test]
fn a_field_that_does_not_come_any_more_is_bad() {
    let mut both = Setup::new(&[Variant::UInt32(1), Variant::UInt32(2)]);
    let mut one = Setup::new(&[Variant::UInt32(1)]);
    let mut subscriber = both.build_subscriber();
    let status = last_status([&mut both, &mut one], &mut subscriber, 1);
    assert!(status.is_bad(), "{status}");
    assert!(both.target(0).get().unwrap().status_code().is_good());
}

#[test]
fn a_json_key_frame_that_says_so_has_all_fields() {
    let values = [Variant::UInt32(1), Variant::UInt32(2)];
    for (says_so, expected) in [
        (JsonMask::MessageType, StatusCode::BadConfigurationError),
        // Other software sends some of the fields in a message without headers.
        (0, StatusCode::UncertainLastUsableValue),
    ] {
        let mask = json::DATA_SET_HEADER & !JsonMask::MessageType | says_so;
        let setup = |values| json::setup(values, json::HEADERS, mask);
        let (mut both, mut one) = (setup(&values[..]), setup(&values[..1]));
        let mut subscriber = both.build_subscriber();
        let status = last_status([&mut both, &mut one], &mut subscriber, 1);
        assert_eq!(status, expected);
    }
}

/// The KeyFrameCount of a reader tells how many messages may lack a field if they do not tell whether they are key frames.
#[test]
fn a_field_that_json_messages_lack_does_not_stay_good() {
    let values = [Variant::UInt32(1), Variant::UInt32(2)];
    let mask = json::DATA_SET_HEADER & !(JsonMask::MessageType | JsonMask::SequenceNumber);
    let (good, last) = (StatusCode::Good, StatusCode::UncertainLastUsableValue);
    for (key_frames, expected) in [(1, [last, last, good]), (2, [good, last, good])] {
        let mut setup = json::setup(&values, json::HEADERS, mask);
        setup.reader.key_frame_count = key_frames;
        let mut subscriber = setup.build_subscriber();
        let (mut all, mut one) = (
            setup.build(),
            json::setup(&values[..1], json::HEADERS, mask).build(),
        );
        pass(&mut all, &mut subscriber, now(), &mut Statuses::default());
        let found = [false, false, true].map(|has_all| {
            let group = if has_all { &mut all } else { &mut one };
            pass(group, &mut subscriber, now(), &mut Statuses::default());
            assert!(setup.target(0).get().unwrap().status_code().is_good());
            setup.target(1).get().unwrap().status_code()
        });
        assert_eq!(found, expected);
    }
}

#[test]
fn a_value_of_another_type_does_not_leave_the_one_before() {
    for other in [Variant::Double(2.0), vec![1_u32, 2].into(), "text".into()] {
        let mut number = Setup::new(&[Variant::UInt32(1)]);
        let mut subscriber = number.build_subscriber();
        let mut other = Setup::new(&[other]);
        let status = last_status([&mut number, &mut other], &mut subscriber, 0);
        assert_eq!(status, StatusCode::BadTypeMismatch);
    }
}

/// Observer that keeps the values of fields, and the errors.
#[derive(Default)]
struct Fields {
    values: Vec<(Option<Variant>, StatusCode)>,
    errors: Vec<String>,
}

impl SubscriberObserver for Fields {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let fields = received.fields();
        self.values = fields
            .map(|(_, it)| (it.value.clone(), it.status_code()))
            .collect();
    }

    fn refused(&mut self, error: &ReceiveError) {
        self.errors.push(error.to_string());
    }
}

/// Also for observers, and for targets that would take the value.
#[test]
fn a_value_of_another_type_than_the_metadata_has_is_bad_everywhere() {
    let values = [Variant::UInt32(1), vec![1_u8, 2].into(), Variant::UInt32(3)];
    for other in [
        [Variant::UInt64(1), vec![1_u8, 2].into(), Variant::UInt32(3)],
        [
            Variant::UInt32(1),
            vec![1_u8, 2, 3].into(),
            Variant::UInt32(3),
        ],
        [Variant::UInt32(1), Variant::Byte(1), Variant::UInt32(3)],
        [vec![1_u32].into(), vec![1_u8, 2].into(), Variant::UInt32(3)],
    ] {
        let wrong = values.iter().zip(&other).position(|(one, two)| {
            one.built_in_type() != two.built_in_type()
                || one.as_array().map(|it| it.len()) != two.as_array().map(|it| it.len())
        });
        let wrong = wrong.unwrap();
        let mut reader = Setup::new(&values);
        reader.reader.data_set_meta_data.fields[1].array_dimensions = vec![2];
        let mut any = |_: SubscribedField<'_>| Some(FieldTarget::Callback(Box::new(|_| Ok(()))));
        let mut subscriber = reader.build_subscriber_into(&mut any);
        let mut group = Setup::new(&other).build();
        let mut seen = Fields::default();
        // From the second message on, the fast path would take messages of one layout.
        for _ in 0..4 {
            let mut messages: Vec<Vec<u8>> = Vec::new();
            group.publish(now(), UP, &mut messages).unwrap();
            let reception = subscriber.receive(now(), UP, &mut messages[0], &mut seen);
            assert_eq!(reception.unwrap().accepted, 1);
            for (index, (value, status)) in seen.values.iter().enumerate() {
                let expected = match index == wrong {
                    true => (None, StatusCode::BadTypeMismatch),
                    false => (Some(values[index].clone()), StatusCode::Good),
                };
                assert_eq!((value.clone(), *status), expected);
            }
        }
        assert_eq!(seen.errors.len(), 4);
        assert!(
            seen.errors[0].contains("the type of the metadata"),
            "{:?}",
            seen.errors
        );
        assert_eq!(subscriber.losses().of(LossCause::Encoding), 4);
    }
}

#[test]
fn a_keep_alive_ends_an_error_but_begins_nothing() {
    let mut setup = with_header(
        Setup::new(&[Variant::UInt32(1)]),
        UadpMask::MajorVersion | UadpMask::SequenceNumber,
    );
    let version = |major_version| ConfigurationVersionDataType {
        major_version,
        minor_version: 1,
    };
    setup.reader.data_set_meta_data.configuration_version = version(1);
    let mut subscriber = setup.build_subscriber();
    let receive = |subscriber: &mut Subscriber, group: &mut WriterGroup| {
        let mut messages: Vec<Vec<u8>> = Vec::new();
        group.publish(now(), UP, &mut messages).unwrap();
        for mut message in messages {
            // A message with other metadata is an error.
            let _ = subscriber.receive(now(), UP, &mut message, &mut Statuses::default());
        }
        subscriber.reader_state(0, UP)
    };
    setup.data_set.data_set_meta_data.configuration_version = version(2);
    let other = receive(&mut subscriber, &mut setup.build());
    assert_eq!(other, Some(PubSubState::Error));
    setup.data_set.data_set_meta_data.configuration_version = version(1);
    let key_frames = setup.writer().key_frame_count;
    // A writer of events sends a keep-alive first.
    setup.writer().key_frame_count = 0;
    let mut keep_alive = setup.build();
    let waiting = receive(&mut subscriber, &mut keep_alive);
    assert_eq!(waiting, Some(PubSubState::PreOperational));
    let found = setup.target(0).get().unwrap().status_code();
    assert_eq!(found, StatusCode::BadWaitingForInitialData);
    setup.writer().key_frame_count = key_frames;
    let working = receive(&mut subscriber, &mut setup.build());
    assert_eq!(working, Some(PubSubState::Operational));
}

#[test]
fn after_a_gap_the_fields_that_do_not_come_are_uncertain() {
    let values = [Variant::UInt32(1), Variant::UInt32(2)];
    let mut setup = with_header(Setup::new(&values), UadpMask::SequenceNumber);
    setup.writer().key_frame_count = 7;
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let (mut time, mut seen) = (now(), Statuses::default());
    let mut step = |subscriber: &mut Subscriber, values: [Option<u32>; 2], is_lost: bool| {
        for (index, value) in values.into_iter().enumerate() {
            if let Some(value) = value {
                let index = u32::try_from(index).unwrap();
                set(&setup.cell(index), value);
            }
        }
        match is_lost {
            true => drop(group.publish(time, UP, &mut Vec::<Vec<u8>>::new()).unwrap()),
            false => pass(&mut group, subscriber, time, &mut seen),
        }
        time.instant += Duration::from_millis(10);
        [0, 1].map(|index| setup.target(index).get().unwrap())
    };
    let value = |value: u32, status| (Some(Variant::UInt32(value)), status);
    let of = |found: [takt_ua::DataValue; 2]| {
        found.map(|found| (found.value.clone(), found.status_code()))
    };
    let (good, last) = (StatusCode::Good, StatusCode::UncertainLastUsableValue);
    step(&mut subscriber, [None, None], false);
    let found = step(&mut subscriber, [Some(10), None], false);
    assert_eq!(of(found), [value(10, good), value(2, good)]);
    step(&mut subscriber, [Some(11), Some(11)], true);
    let found = step(&mut subscriber, [Some(12), None], false);
    assert_eq!(of(found), [value(12, good), value(2, last)]);
    // It stays so until it comes again.
    let found = step(&mut subscriber, [Some(13), None], false);
    assert_eq!(of(found), [value(13, good), value(2, last)]);
    let found = step(&mut subscriber, [None, Some(14)], false);
    assert_eq!(of(found), [value(13, good), value(14, good)]);
    // The next key frame has all values, and ends a gap.
    step(&mut subscriber, [Some(15), None], true);
    let found = step(&mut subscriber, [None, None], false);
    assert_eq!(of(found), [value(15, good), value(14, good)]);
}

/// New metadata comes between delta frames, which refer to a key frame of its version.
#[test]
fn values_wait_for_a_key_frame_of_new_metadata() {
    let values = [Variant::UInt32(1), Variant::UInt32(2)];
    let version = |minor_version| ConfigurationVersionDataType {
        major_version: 1,
        minor_version,
    };
    let mut setup = Setup::new(&values);
    setup.writer().key_frame_count = 5;
    setup.reader.data_set_meta_data.configuration_version = version(1);
    setup.data_set.data_set_meta_data.configuration_version = version(2);
    for meta_data in [
        &mut setup.data_set.data_set_meta_data,
        &mut setup.reader.data_set_meta_data,
    ] {
        for (field, name) in meta_data.fields.iter_mut().zip(["A", "B"]) {
            field.name = name.into();
        }
    }
    let (mut group, mut subscriber) = (setup.build(), setup.build_subscriber());
    let (mut time, mut seen) = (now(), Statuses::default());
    let mut step = |subscriber: &mut Subscriber, value| {
        set(&setup.cell(0), value);
        time.instant += Duration::from_millis(10);
        pass(&mut group, subscriber, time, &mut seen);
        [0, 1].map(|index| setup.target(index).get().unwrap().status_code())
    };
    let (good, waits) = (StatusCode::Good, StatusCode::BadWaitingForInitialData);
    assert_eq!(step(&mut subscriber, 10), [good; 2]);
    assert_eq!(step(&mut subscriber, 11), [good; 2]);
    let content = AnnouncementContent::DataSetMetaData {
        data_set_writer_id: 7,
        meta_data: Box::new(setup.data_set.data_set_meta_data.clone()),
        status_code: good,
    };
    let announcement = DiscoveryAnnouncement {
        sequence_number: 0,
        content,
    };
    let payload = Payload::DiscoveryAnnouncement(Box::new(announcement));
    let announcement = NetworkMessage::discovery(PublisherId::UInt16(4), payload);
    let mut announcement = announcement.encode_to_vec().unwrap();
    subscriber
        .receive(now(), UP, &mut announcement, &mut ())
        .unwrap();
    for value in 12..15 {
        assert_eq!(step(&mut subscriber, value), [waits; 2]);
        let state = subscriber.reader_state(0, UP);
        assert_eq!(state, Some(PubSubState::PreOperational));
    }
    assert_eq!(step(&mut subscriber, 15), [good; 2]);
}

/// Returns a NetworkMessage of the setup's writer with these DataSetMessages.
fn network_message(data_set_messages: &[&[u8]]) -> Vec<u8> {
    let count = data_set_messages.len();
    // PublisherId UInt16 4, WriterGroupId 3, and the DataSetWriterIds in the PayloadHeader.
    let mut bytes = vec![0xF1, 1, 4, 0, 1, 3, 0, count.try_into().unwrap()];
    bytes.extend([7, 0].repeat(count));
    for message in data_set_messages {
        bytes.extend(u16::try_from(message.len()).unwrap().to_le_bytes());
    }
    bytes.extend(data_set_messages.concat());
    bytes
}

#[test]
fn a_lost_message_makes_values_uncertain_even_if_the_next_one_comes_with_it() {
    let values = [Variant::UInt32(1), Variant::UInt32(2)];
    let mut setup = with_header(Setup::new(&values), 0);
    let mut subscriber = setup.build_subscriber();
    let mut group = setup.build();
    pass(&mut group, &mut subscriber, now(), &mut Statuses::default());
    // A key frame with a field of an unknown type, and a delta frame of the second field.
    let lost = [1, 2, 0, 0x3F, 0, 0, 0, 0, 7, 9, 0, 0, 0];
    let delta = [0x81, 1, 1, 0, 1, 0, 7, 9, 0, 0, 0];
    let mut both = network_message(&[&lost, &delta]);
    let reception = subscriber
        .receive(now(), UP, &mut both, &mut Statuses::default())
        .unwrap();
    assert_eq!((reception.accepted, reception.refused), (1, 1));
    let [first, second] = [0, 1].map(|index| setup.target(index).get().unwrap());
    assert_eq!(first.status_code(), StatusCode::UncertainLastUsableValue);
    assert_eq!(second.value, Some(Variant::UInt32(9)));
    assert!(second.status_code().is_good());
}
