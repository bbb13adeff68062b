//! Reports to the observer of a Subscriber.

use takt_ua::enumerations::{MessageSecurityMode, PubSubState, UadpNetworkMessageContentMask};
use takt_ua::structures::{
    KeyValuePair, PubSubConnectionDataType, ReaderGroupDataType, UadpWriterGroupMessageDataType,
};
use takt_ua::{DateTime, ExtensionObject, QualifiedName, Variant};

use crate::support::{Setup, keys, now};
use takt_pubsub::publisher::WriterGroup;
use takt_pubsub::security::{MAX_RANDOM_PARTS, Replay, VerifyError};
use takt_pubsub::subscriber::{ReceivedDataSet, Subscriber, SubscriberObserver};
use takt_pubsub::{Now, ReceiveError};

const UP: PubSubState = PubSubState::Operational;

/// Returns the only message of a publishing interval.
fn message(group: &mut WriterGroup, now: Now) -> Vec<u8> {
    let mut output: Vec<Vec<u8>> = Vec::new();
    group.publish(now, UP, &mut output).unwrap();
    assert_eq!(output.len(), 1);
    output.remove(0)
}

/// SourceTimestamps of received fields.
#[derive(Default)]
struct Times(Vec<Option<DateTime>>);

impl SubscriberObserver for Times {
    fn data_set(&mut self, received: &ReceivedDataSet<'_>) {
        let fields = received.fields();
        self.0
            .extend(fields.map(|(_, value)| value.source_timestamp));
    }
}

#[test]
fn fields_have_the_timestamp_of_their_message_on_both_paths() {
    let mut setup = Setup::new(&[Variant::UInt32(1), Variant::Boolean(true)]);
    let mut group = setup.build();
    for mut subscriber in [setup.build_subscriber(), Subscriber::discovering(1)] {
        let mut times = Times::default();
        for step in 0..3 {
            let now = now();
            let mut message = message(&mut group, now);
            let reception = subscriber.receive(now, UP, &mut message, &mut times);
            assert_eq!(reception.unwrap().fixed, step > 0);
            assert_eq!(times.0, [Some(now.date_time); 2], "message {step}");
            times.0.clear();
        }
    }
}

/// Returns the first message of each of many runs of a Publisher: each has another random part and SequenceNumber 1.
fn messages_without_count(setup: &mut Setup, now: Now, count: usize) -> Vec<Vec<u8>> {
    let ring = keys(1, now.instant);
    let next = |_| {
        let mut group = setup.build();
        group.set_keys(&ring);
        message(&mut group, now)
    };
    (0..count).map(next).collect()
}

#[test]
fn a_publisher_that_does_not_count_is_received_up_to_the_configured_number_of_nonces() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.protect(MessageSecurityMode::SignAndEncrypt);
    // Without DataSetMessage SequenceNumbers, only the MessageNonces tell messages apart.
    setup.writer().message_settings = ExtensionObject::NULL;
    setup.group.message_settings =
        ExtensionObject::from_structure(&UadpWriterGroupMessageDataType {
            network_message_content_mask: UadpNetworkMessageContentMask::PublisherId
                | UadpNetworkMessageContentMask::GroupHeader
                | UadpNetworkMessageContentMask::WriterGroupId
                | UadpNetworkMessageContentMask::PayloadHeader,
            ..UadpWriterGroupMessageDataType::default()
        });
    let mut group = ReaderGroupDataType {
        name: "Readers".into(),
        enabled: true,
        group_properties: vec![KeyValuePair {
            key: QualifiedName::new(0, "MaxMessageNonces"),
            value: Variant::UInt32(50),
        }],
        data_set_readers: vec![setup.reader.clone()],
        ..ReaderGroupDataType::default()
    };
    let subscriber = |setup: &mut Setup, group: &ReaderGroupDataType| {
        let connection = PubSubConnectionDataType {
            reader_groups: vec![group.clone()],
            ..setup.connection.clone()
        };
        Subscriber::new(&connection, &[], &mut setup.received)
    };
    let now = now();
    let allowed = MAX_RANDOM_PARTS + 50;
    let messages = messages_without_count(&mut setup, now, allowed + 1);
    let mut receiver = subscriber(&mut setup, &group).unwrap();
    receiver.set_keys("Keys", &keys(1, now.instant));
    let mut receive = |number: usize| {
        let mut message = messages[number].clone();
        let received = receiver.receive(now, UP, &mut message, &mut ());
        received.map(|reception| reception.accepted)
    };
    let refused = |replay| Err(ReceiveError::Security(VerifyError::Replay(replay)));
    for number in 0..allowed {
        assert_eq!(receive(number), Ok(1), "{number}");
    }
    for number in 0..allowed {
        assert_eq!(receive(number), refused(Replay::Seen), "{number}");
    }
    assert_eq!(receive(allowed), refused(Replay::TooManyNonces));
    group.group_properties[0].value = Variant::from("many");
    let error = subscriber(&mut setup, &group).unwrap_err().to_string();
    assert!(error.contains("MaxMessageNonces"), "{error}");
}

#[test]
fn a_protected_message_is_refused_only_if_it_could_be_wanted() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.protect(MessageSecurityMode::SignAndEncrypt);
    let now = now();
    let ring = keys(1, now.instant);
    let mut group = setup.build();
    group.set_keys(&ring);
    let message = message(&mut group, now);
    let receive = |subscriber: &mut Subscriber| {
        let received = subscriber.receive(now, UP, &mut message.clone(), &mut ());
        received.map(|reception| reception.accepted)
    };
    // Without a configuration, every message is wanted.
    let refused = receive(&mut Subscriber::discovering(10));
    assert_eq!(refused, Err(ReceiveError::NotExpected));
    // The messages of other Publishers are not, whether a reader has keys or not.
    setup.reader.publisher_id = Variant::UInt16(5);
    let mut other = setup.build_subscriber();
    other.set_keys("Keys", &ring);
    assert_eq!(receive(&mut other), Ok(0));
    setup.protect(MessageSecurityMode::None);
    assert_eq!(receive(&mut setup.build_subscriber()), Ok(0));
}
