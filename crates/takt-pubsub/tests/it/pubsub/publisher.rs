use std::sync::Arc;
use std::time::Duration;

use takt_cell::Cell;
use takt_ua::enumerations::{
    DataSetFieldContentMask, DataSetOrderingType, PubSubState, UadpNetworkMessageContentMask,
};
use takt_ua::structures::{
    PublishedDataItemsDataType, UadpDataSetReaderMessageDataType, UadpDataSetWriterMessageDataType,
    UadpWriterGroupMessageDataType,
};
use takt_ua::{DateTime, ExtensionObject, NodeId, StatusCode, Variant};
use takt_wire::{
    DataSetContent, DataSetMessage, DeltaFields, Fields, NetworkMessageRef, PayloadParameters,
    PayloadRef,
};

use crate::support::{Setup, now};
use takt_pubsub::publisher::*;
use takt_pubsub::{Now, PublishError};

fn publish(group: &mut WriterGroup, now: Now) -> (PublishedMessages, Vec<Vec<u8>>) {
    let mut output = Vec::new();
    let published = group
        .publish(now, PubSubState::Operational, &mut output)
        .unwrap();
    assert_eq!(published.network_messages, output.len());
    (published, output)
}

fn decode(message: &[u8]) -> Vec<DataSetMessage> {
    let message = NetworkMessageRef::new_checked(message).unwrap();
    match message.payload(&PayloadParameters::default()).unwrap() {
        PayloadRef::DataSetMessages(messages) => messages
            .iter()
            .map(|message| message.unwrap().to_owned())
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn only(output: &[Vec<u8>]) -> DataSetMessage {
    assert_eq!(output.len(), 1);
    decode(&output[0]).remove(0)
}

#[test]
fn the_fast_path_and_the_general_encoder_give_the_same_bytes() {
    use DataSetFieldContentMask as Mask;
    let values = [
        Variant::UInt32(1),
        Variant::from(vec![1.5_f64, 2.5]),
        Variant::Boolean(true),
    ];
    for mask in [
        0,
        Mask::StatusCode | Mask::SourceTimestamp | Mask::ServerTimestamp,
    ] {
        let mut setup = Setup::new(&values);
        setup.writer().data_set_field_content_mask = mask;
        let mut fast = setup.build();
        // A callback is never on the fast path.
        let cells = setup.cells.clone();
        let mut by_callback = move |field: PublishedField<'_>| {
            let cell = cells.get(&field.variable?.published_variable)?.clone();
            let read = move || cell.get().unwrap();
            Some(FieldSource::Callback(Box::new(read)))
        };
        let data_sets = std::slice::from_ref(&setup.data_set);
        let mut general =
            WriterGroup::new(&setup.connection, &setup.group, data_sets, &mut by_callback).unwrap();
        for step in 0..3_u32 {
            let at = DateTime(132_000_000_000_000_000 + i64::from(step));
            setup
                .cell(0)
                .set(&Variant::UInt32(step * 1000), StatusCode::Good, at)
                .unwrap();
            // An Uncertain value sets the status of the whole DataSetMessage.
            let uncertain = step == 2;
            if uncertain {
                let value = Variant::Boolean(false);
                let status = StatusCode::UncertainSensorNotAccurate;
                setup.cell(2).set(&value, status, at).unwrap();
            }
            let now = now();
            let (published, fast_bytes) = publish(&mut fast, now);
            assert_eq!(published.fixed, usize::from(!uncertain), "mask {mask}");
            let (published, bytes) = publish(&mut general, now);
            assert_eq!(published.fixed, 0);
            assert_eq!(fast_bytes, bytes, "mask {mask}");
        }
    }
}

#[test]
fn raw_data_is_on_the_fast_path_too_and_bad_values_leave_it() {
    let mut setup = Setup::new(&[Variant::UInt32(1), Variant::Int16(-2)]);
    setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
    let mut group = setup.build();
    let (published, output) = publish(&mut group, now());
    assert_eq!(published.fixed, 1);
    let raw = |bytes: &[u8]| DataSetContent::KeyFrame(Fields::RawData(bytes.to_vec()));
    assert_eq!(only(&output).content, raw(&[1, 0, 0, 0, 0xFE, 0xFF]));

    let bad = StatusCode::BadSensorFailure;
    setup.cell(1).set_status(bad, DateTime::MIN).unwrap();
    let (published, output) = publish(&mut group, now());
    assert_eq!(published.fixed, 0);
    let message = only(&output);
    assert_eq!(message.content, raw(&[1, 0, 0, 0, 0, 0]));
    assert_eq!(message.status, Some(StatusCode::Bad));
    // Both paths continue the count.
    assert_eq!(message.sequence_number, Some(1));
}

#[test]
fn a_bad_value_is_a_status_code_and_an_uncertain_one_a_data_value() {
    let mut setup = Setup::new(&[Variant::UInt32(1), Variant::UInt32(2)]);
    let mut group = setup.build();
    let time = DateTime::now();
    setup
        .cell(0)
        .set_status(StatusCode::BadDeviceFailure, time)
        .unwrap();
    setup
        .cell(1)
        .set(
            &Variant::UInt32(5),
            StatusCode::UncertainSensorNotAccurate,
            time,
        )
        .unwrap();
    let message = only(&publish(&mut group, now()).1);
    let DataSetContent::KeyFrame(Fields::Variant(fields)) = message.content else {
        panic!("{message:?}")
    };
    assert_eq!(fields[0], Variant::StatusCode(StatusCode::BadDeviceFailure));
    let Variant::DataValue(value) = &fields[1] else {
        panic!("{fields:?}")
    };
    assert_eq!(value.value, Some(Variant::UInt32(5)));
    assert_eq!(value.status, Some(StatusCode::UncertainSensorNotAccurate));
    assert_eq!(message.status, Some(StatusCode::Bad));
}

#[test]
fn between_key_frames_only_changes_are_sent_and_a_keep_alive_if_there_are_none() {
    let mut setup = Setup::new(&[Variant::UInt32(1), Variant::UInt32(2)]);
    setup.writer().key_frame_count = 20;
    let mut group = setup.build();
    let mut time = now();
    let mut next = |group: &mut WriterGroup| {
        time.instant += Duration::from_millis(10);
        publish(group, time).1
    };
    let first = only(&next(&mut group));
    assert!(matches!(first.content, DataSetContent::KeyFrame(_)));
    assert_eq!(first.sequence_number, Some(0));
    assert!(next(&mut group).is_empty());
    let value = Variant::UInt32(9);
    setup
        .cell(1)
        .set(&value, StatusCode::Good, DateTime::now())
        .unwrap();
    let delta = only(&next(&mut group));
    let DataSetContent::DeltaFrame(DeltaFields::Variant(fields)) = &delta.content else {
        panic!("{delta:?}")
    };
    assert_eq!(fields.len(), 1);
    assert_eq!((fields[0].field_index, &fields[0].field_value), (1, &value));
    assert_eq!(delta.sequence_number, Some(1));
    // There is silence for 100 ms, in intervals of 10 ms.
    let sent: Vec<_> = (0..10).map(|_| next(&mut group)).collect();
    assert!(sent.iter().take(9).all(|messages| messages.is_empty()));
    let keep_alive = only(&sent[9]);
    assert_eq!(keep_alive.content, DataSetContent::KeepAlive);
    assert_eq!(keep_alive.sequence_number, Some(2), "of the next message");
    // Intervals 0, 1, 2 and ten more are over: the twentieth has a key frame again.
    let sent: Vec<_> = (0..8).flat_map(|_| next(&mut group)).collect();
    let last = decode(sent.last().unwrap()).remove(0);
    assert!(matches!(last.content, DataSetContent::KeyFrame(_)));
    assert_eq!(last.sequence_number, Some(2));
}

#[test]
fn a_message_that_is_too_long_is_sent_in_chunks() {
    let mut setup = Setup::new(&[Variant::from(vec![7_u8; 1000])]);
    setup.group.max_network_message_size = 300;
    setup.cells = [(
        NodeId::numeric(1, 0),
        Arc::new(Cell::of(&Variant::from(vec![7_u8; 1000]))),
    )]
    .into();
    let mut group = setup.build();
    let (published, output) = publish(&mut group, now());
    // The fast path gives way to chunks.
    assert_eq!(published.fixed, 0);
    assert!(output.len() >= 4, "{}", output.len());
    for message in &output {
        assert!(message.len() <= 300);
        assert!(NetworkMessageRef::new_checked(message).unwrap().chunk);
    }
}

/// Adds the NetworkMessageNumber to the messages of a group.
fn with_numbers(setup: &mut Setup) {
    let mut settings: UadpWriterGroupMessageDataType =
        setup.group.message_settings.decode_as().unwrap();
    settings.network_message_content_mask |= UadpNetworkMessageContentMask::NetworkMessageNumber;
    settings.data_set_ordering = DataSetOrderingType::AscendingWriterIdSingle;
    setup.group.message_settings = ExtensionObject::from_structure(&settings);
}

/// Returns the NetworkMessageNumbers of messages.
fn numbers(messages: &[Vec<u8>]) -> Vec<u16> {
    let number = |message: &Vec<u8>| {
        let message = NetworkMessageRef::new_checked(message).unwrap();
        message
            .group_header
            .unwrap()
            .network_message_number
            .unwrap()
    };
    messages.iter().map(number).collect()
}

/// 10000-14, 6.3.1.3.4: the messages of an interval are counted from 1, chunks included.
#[test]
fn the_messages_of_an_interval_are_numbered_from_1() {
    let long = Variant::from(vec![7_u8; 1000]);
    let mut setup = Setup::new(std::slice::from_ref(&long));
    setup.cells = [(NodeId::numeric(1, 0), Arc::new(Cell::of(&long)))].into();
    with_numbers(&mut setup);
    setup.group.max_network_message_size = 300;
    let mut second = setup.writer().clone();
    second.data_set_writer_id = 8;
    setup.group.data_set_writers.push(second);
    let mut group = setup.build();
    for _ in 0..2 {
        let (_, output) = publish(&mut group, now());
        let expected: Vec<u16> = (1..).take(output.len()).collect();
        assert_eq!(numbers(&output), expected);
        assert!(output.len() >= 8, "{}", output.len());
    }
    // A reader of the first message gets all of its chunks.
    let mut settings: UadpDataSetReaderMessageDataType =
        setup.reader.message_settings.decode_as().unwrap();
    settings.network_message_number = 1;
    setup.reader.message_settings = ExtensionObject::from_structure(&settings);
    let mut subscriber = setup.build_subscriber();
    let (_, output) = publish(&mut group, now());
    let accepted = output.into_iter().map(|mut message| {
        let received = subscriber.receive(now(), PubSubState::Operational, &mut message, &mut ());
        received.unwrap().accepted
    });
    assert_eq!(accepted.sum::<usize>(), 1);

    // Also on the fast path, and if an earlier message is not sent.
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    with_numbers(&mut setup);
    let mut second = setup.writer().clone();
    second.data_set_writer_id = 8;
    setup.group.data_set_writers.push(second);
    let mut group = setup.build();
    let (published, output) = publish(&mut group, now());
    assert_eq!((published.fixed, numbers(&output)), (2, vec![1, 2]));
    group.set_writer_enabled(7, false);
    let (published, output) = publish(&mut group, now());
    assert_eq!((published.fixed, numbers(&output)), (1, vec![1]));
}

#[test]
fn messages_are_sent_in_the_order_of_configured_numbers() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    with_numbers(&mut setup);
    let writer = setup.writer().clone();
    setup.group.data_set_writers = [(7, 0), (8, 3), (9, 1), (10, 0)]
        .map(|(id, number)| {
            let mut writer = writer.clone();
            let mut settings: UadpDataSetWriterMessageDataType =
                writer.message_settings.decode_as().unwrap();
            settings.network_message_number = number;
            writer.data_set_writer_id = id;
            writer.message_settings = ExtensionObject::from_structure(&settings);
            writer
        })
        .into();
    let (_, output) = publish(&mut setup.build(), now());
    let ids = output
        .iter()
        .map(|message| decode(message)[0].data_set_writer_id.unwrap());
    assert_eq!(ids.collect::<Vec<_>>(), [9, 7, 8, 10]);
    assert_eq!(numbers(&output), [1, 2, 3, 4]);
}

/// Output that fails the first time.
#[derive(Default)]
struct FailingOnce {
    has_failed: bool,
    messages: Vec<Vec<u8>>,
}

impl Output for FailingOnce {
    type Error = std::convert::Infallible;
    type Reservation<'a> = KeptMessage<'a>;

    fn max_message_size(&self) -> usize {
        300
    }

    fn reserve(&mut self, length: usize) -> Result<KeptMessage<'_>, Self::Error> {
        let has_failed = std::mem::replace(&mut self.has_failed, true);
        // A message that is longer than its room is not taken.
        Output::reserve(&mut self.messages, if has_failed { length } else { 0 })
    }
}

/// Returns a group with two writers, and their DataSets of one value each.
fn two_writers(first: Variant, second: Variant) -> WriterGroup {
    let mut setup = Setup::new(&[first, second]);
    let mut data_sets = Vec::new();
    for (index, name) in ["Data", "Other"].into_iter().enumerate() {
        let mut data_set = setup.data_set.clone();
        let items: PublishedDataItemsDataType = data_set.data_set_source.decode_as().unwrap();
        let items = PublishedDataItemsDataType {
            published_data: vec![items.published_data[index].clone()],
        };
        data_set.name = name.into();
        data_set.data_set_source = ExtensionObject::from_structure(&items);
        let fields = &mut data_set.data_set_meta_data.fields;
        *fields = vec![fields[index].clone()];
        data_sets.push(data_set);
    }
    let mut other = setup.writer().clone();
    other.data_set_writer_id = 8;
    other.data_set_name = "Other".into();
    setup.group.data_set_writers.push(other);
    let (connection, group) = (&setup.connection, &setup.group);
    WriterGroup::new(connection, group, &data_sets, &mut setup.cells).unwrap()
}

#[test]
fn a_message_that_is_not_sent_does_not_hold_back_the_others() {
    let mut group = two_writers(vec![7_u8; 200].into(), vec![7_u8; 200].into());
    let mut output = FailingOnce::default();
    let (published, error) = group.publish_all(now(), PubSubState::Operational, &mut output);
    // Both together are too long.
    assert_eq!((published.network_messages, published.failed), (1, 1));
    assert!(matches!(error, Some(PublishError::NoRoom)), "{error:?}");
    let message = &decode(&output.messages[0])[0];
    assert_eq!(message.data_set_writer_id, Some(8));
}

#[test]
fn a_message_that_is_too_long_to_be_joined_is_sent_alone() {
    // The sizes of DataSetMessages in one NetworkMessage are UInt16.
    let mut group = two_writers(vec![7_u8; 70_000].into(), Variant::UInt32(1));
    let (published, output) = publish(&mut group, now());
    assert_eq!((published.network_messages, published.failed), (2, 0));
    let ids = output
        .iter()
        .map(|message| decode(message)[0].data_set_writer_id);
    assert_eq!(ids.collect::<Vec<_>>(), [Some(7), Some(8)]);
}

#[test]
fn events_are_sent_once() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.writer().key_frame_count = 0;
    let mut group = setup.build();
    // The keep-alive shows that there is a Publisher.
    assert_eq!(
        only(&publish(&mut group, now()).1).content,
        DataSetContent::KeepAlive
    );
    assert!(group.queue_event(7, vec![Variant::UInt32(5)]));
    assert!(group.queue_event(7, vec![Variant::UInt32(6)]));
    assert!(
        !group.queue_event(7, Vec::new()),
        "another number of fields"
    );
    assert!(
        !group.queue_event(8, vec![Variant::UInt32(5)]),
        "no such writer"
    );
    let time = now();
    let (_, output) = publish(&mut group, time);
    let events: Vec<_> = output
        .iter()
        .map(|message| decode(message).remove(0))
        .collect();
    assert_eq!(events.len(), 2);
    assert_eq!(
        events[0].content,
        DataSetContent::Event(vec![Variant::UInt32(5)])
    );
    assert_eq!(
        events[1].content,
        DataSetContent::Event(vec![Variant::UInt32(6)])
    );
    assert_eq!(events[1].sequence_number, Some(1));
    assert!(publish(&mut group, time).1.is_empty());
}

#[test]
fn disabled_and_paused_components_send_nothing() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    let mut group = setup.build();
    let mut output = Vec::new();
    group
        .publish(now(), PubSubState::Error, &mut output)
        .unwrap();
    assert!(output.is_empty());
    assert_eq!(group.state(PubSubState::Disabled), PubSubState::Paused);
    group.set_enabled(false);
    assert!(publish(&mut group, now()).1.is_empty());
    assert_eq!(
        group.writer_state(0, PubSubState::Operational),
        Some(PubSubState::Paused)
    );
    group.set_enabled(true);
    assert!(group.set_writer_enabled(7, false));
    assert!(publish(&mut group, now()).1.is_empty());
    assert!(group.set_writer_enabled(7, true));
    assert_eq!(publish(&mut group, now()).1.len(), 1);
}

#[test]
fn forbidden_configurations_are_refused_with_the_component() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.writer().data_set_name = "Other".into();
    let data_sets = std::slice::from_ref(&setup.data_set);
    let error =
        WriterGroup::new(&setup.connection, &setup.group, data_sets, &mut setup.cells).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Group/Writer: there is no PublishedDataSet 'Other'"
    );
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.cells.clear();
    let data_sets = std::slice::from_ref(&setup.data_set);
    let error =
        WriterGroup::new(&setup.connection, &setup.group, data_sets, &mut setup.cells).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Group/Writer/Field: the field has no source"
    );
}
