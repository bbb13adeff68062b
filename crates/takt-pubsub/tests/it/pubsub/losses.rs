//! Losses are counted by their causes.

use std::time::Duration;

use takt_pubsub::subscriber::Subscriber;
use takt_pubsub::{LossCause, Now, ReceiveError};
use takt_ua::enumerations::{DataSetFieldContentMask, PubSubState};
use takt_ua::{DateTime, StatusCode, Variant};

use crate::pubsub::json::{DATA_SET_HEADER, HEADERS, Log, receive, setup, texts};
use crate::support::{Setup, now};

const UP: PubSubState = PubSubState::Operational;

fn of(subscriber: &Subscriber) -> Vec<(LossCause, u64)> {
    subscriber.losses().iter().collect()
}

#[test]
fn repeated_and_missing_messages_and_early_delta_frames_are_counted() {
    let mut setup = Setup::new(&[Variant::UInt32(0)]);
    setup.writer().key_frame_count = 100;
    let mut group = setup.build();
    let mut messages = Vec::new();
    for step in 0..6_u32 {
        let value = Variant::UInt32(step);
        setup
            .cell(0)
            .set(&value, StatusCode::Good, DateTime::now())
            .unwrap();
        let mut output: Vec<Vec<u8>> = Vec::new();
        group.publish(now(), UP, &mut output).unwrap();
        messages.append(&mut output);
    }
    let mut pass = |indexes: &[usize]| {
        let mut subscriber = setup.build_subscriber();
        for index in indexes {
            let mut message = messages[*index].clone();
            subscriber
                .receive(now(), UP, &mut message, &mut ())
                .unwrap();
        }
        subscriber
    };
    let first = pass(&[0, 1, 4, 4, 3, 5]);
    assert_eq!(
        of(&first),
        [(LossCause::Gap, 2), (LossCause::Repetition, 2)]
    );
    assert_eq!(first.readers()[0].statistics().received, 4);
    // The key frame is the first message.
    let late = pass(&[1, 4, 4, 3, 5]);
    let expected = [
        (LossCause::Gap, 2),
        (LossCause::Repetition, 2),
        (LossCause::KeyFrame, 3),
    ];
    assert_eq!(of(&late), expected);
    assert_eq!(late.readers()[0].statistics().received, 0);
}

#[test]
fn gaps_of_json_are_counted_in_32_bits() {
    let mut setup = setup(&[Variant::UInt32(1)], HEADERS, DATA_SET_HEADER);
    let text = texts(&mut setup.build(), now()).concat();
    let mut subscriber = setup.build_subscriber();
    let mut log = Log::default();
    for number in [10, 50_010, 50_011, 200_000] {
        let text = text.replace(
            r#""SequenceNumber":0"#,
            &format!(r#""SequenceNumber":{number}"#),
        );
        let received = receive(&mut subscriber, &text, &mut log).unwrap();
        assert_eq!(received.accepted, 1, "{number}");
    }
    assert_eq!(of(&subscriber), [(LossCause::Gap, 49_999 + 149_988)]);
    let unknown = text.replace("ua-keyframe", "ua-other");
    receive(&mut subscriber, &unknown, &mut log).unwrap();
    assert_eq!(subscriber.losses().of(LossCause::Kind), 1);
}

#[test]
fn lost_chunks_are_counted() {
    let mut setup = Setup::new(&[Variant::from("x".repeat(50))]);
    setup.group.max_network_message_size = 60;
    let mut output: Vec<Vec<u8>> = Vec::new();
    setup.build().publish(now(), UP, &mut output).unwrap();
    assert!(output.len() > 1);
    let mut subscriber = setup.build_subscriber();
    let start = now();
    subscriber
        .receive(start, UP, &mut output[0], &mut ())
        .unwrap();
    assert_eq!(of(&subscriber), []);
    let instant = start.instant + Duration::from_secs(60);
    subscriber.handle_timeout(Now { instant, ..start }, UP, &mut ());
    assert_eq!(of(&subscriber), [(LossCause::Chunks, 1)]);
}

#[test]
fn losses_of_forgotten_readers_stay() {
    let mut subscriber = Subscriber::discovering(1);
    for publisher in [4_u16, 5] {
        let mut setup = Setup::new(&[Variant::UInt32(0)]);
        setup.connection.publisher_id = Variant::UInt16(publisher);
        let mut output: Vec<Vec<u8>> = Vec::new();
        setup.build().publish(now(), UP, &mut output).unwrap();
        for _ in 0..2 {
            subscriber
                .receive(now(), UP, &mut output[0].clone(), &mut ())
                .unwrap();
        }
    }
    assert_eq!(subscriber.readers().len(), 1);
    assert_eq!(of(&subscriber), [(LossCause::Repetition, 2)]);
}

#[test]
fn keep_alives_of_a_restarted_publisher_bring_a_reader_back() {
    let mut setup = Setup::new(&[Variant::UInt32(0)]);
    setup.writer().key_frame_count = 100;
    let start = now();
    let at = |milliseconds| Now {
        instant: start.instant + Duration::from_millis(milliseconds),
        ..start
    };
    let mut subscriber = setup.build_subscriber();
    let mut group = setup.build();
    let mut pass = |group: &mut takt_pubsub::publisher::WriterGroup, milliseconds| {
        let mut output: Vec<Vec<u8>> = Vec::new();
        group.publish(at(milliseconds), UP, &mut output).unwrap();
        for mut message in output {
            subscriber
                .receive(at(milliseconds), UP, &mut message, &mut ())
                .unwrap();
        }
        subscriber.handle_timeout(at(milliseconds), UP, &mut ());
        subscriber.reader_state(0, UP).unwrap()
    };
    for step in 0..50 {
        let value = Variant::UInt32(step);
        setup
            .cells
            .values()
            .next()
            .unwrap()
            .set(&value, StatusCode::Good, DateTime::now())
            .unwrap();
        assert_eq!(pass(&mut group, u64::from(step) * 10), UP);
    }
    // The Publisher restarts, and its messages before the timeout are not received: only keep-alives follow.
    let mut restarted = setup.build();
    let mut unheard: Vec<Vec<u8>> = Vec::new();
    restarted.publish(at(500), UP, &mut unheard).unwrap();
    assert_eq!(pass(&mut restarted, 800), PubSubState::Error);
    assert_eq!(pass(&mut restarted, 1000), UP);
}

#[test]
fn raw_data_of_an_unknown_writer_cannot_be_asked_for() {
    use takt_ua::enumerations::UadpNetworkMessageContentMask as Mask;
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
    setup.group.message_settings = takt_ua::ExtensionObject::from_structure(
        &takt_ua::structures::UadpWriterGroupMessageDataType {
            network_message_content_mask: Mask::PublisherId
                | Mask::GroupHeader
                | Mask::WriterGroupId
                | Mask::NetworkMessageNumber
                | Mask::SequenceNumber,
            ..Default::default()
        },
    );
    let mut output: Vec<Vec<u8>> = Vec::new();
    setup.build().publish(now(), UP, &mut output).unwrap();
    let mut subscriber = Subscriber::discovering(5);
    let refused = subscriber
        .receive(now(), UP, &mut output[0], &mut ())
        .unwrap_err();
    let reader = "4/3/? message 1".to_owned();
    assert_eq!(refused, ReceiveError::MetaDataUnknown { reader });
    assert_eq!(subscriber.missing_meta_data(), []);
}
