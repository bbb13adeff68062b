//! Subscribers that know nothing, and Publishers that tell them.

use takt_pubsub::subscriber::Subscriber;
use takt_ua::Variant;
use takt_ua::enumerations::{
    DataSetFieldContentMask, JsonDataSetMessageContentMask as DataSetMask,
    JsonNetworkMessageContentMask as Mask, PubSubState,
};
use takt_ua::structures::ConfigurationVersionDataType;
use takt_wire::AnnouncementContent;

use crate::json::{DATA_SET_HEADER, HEADERS, Log, names_and_values, receive, setup, texts};
use crate::support::{Setup, now};

const UP: PubSubState = PubSubState::Operational;

#[test]
fn readers_are_discovered_and_take_the_metadata_that_is_published() {
    let values = [Variant::UInt32(1), Variant::Byte(2)];
    let compact = HEADERS | Mask::WriterGroupName;
    let raw = DATA_SET_HEADER & !DataSetMask::FieldEncoding1;
    let mut setup = setup(&values, compact, raw);
    setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
    let version = ConfigurationVersionDataType {
        major_version: 5,
        minor_version: 6,
    };
    setup.data_set.data_set_meta_data.configuration_version = version.clone();
    let mut group = setup.build();
    let mut subscriber = Subscriber::discovering(1);
    let mut log = Log::default();
    let data = texts(&mut group, now());
    receive(&mut subscriber, &data[0], &mut log).unwrap();
    assert_eq!(subscriber.readers()[0].name(), "4/Group/7");
    // Names are in the message, types are not.
    let guessed = names_and_values(&[("A", Variant::Int64(1)), ("B", Variant::Int64(2))]);
    assert_eq!(log.data_sets[0].2, guessed);
    let mut told = Vec::new();
    assert_eq!(group.publish_meta_data(now(), &mut told).unwrap(), 1);
    subscriber
        .receive(now(), UP, &mut told[0], &mut log)
        .unwrap();
    let (publisher, announcement) = &log.announced[0];
    assert_eq!(publisher, "4");
    let AnnouncementContent::DataSetMetaData { meta_data, .. } = &announcement.content else {
        panic!("{announcement:?}");
    };
    assert_eq!(meta_data.configuration_version, version);
    let data = texts(&mut group, now());
    receive(&mut subscriber, &data[0], &mut log).unwrap();
    let typed = names_and_values(&[("A", values[0].clone()), ("B", values[1].clone())]);
    assert_eq!(log.data_sets[1].2, typed);
    assert_eq!(subscriber.readers().len(), 1);
    // There is nothing to tell of a writer that does not exist.
    assert!(group.meta_data_message(9, now()).unwrap().is_none());
}

#[test]
fn metadata_of_uadp_writers_is_an_announcement() {
    let mut setup = Setup::new(&[Variant::UInt32(1)]);
    setup.writer().data_set_field_content_mask = DataSetFieldContentMask::RawData;
    let mut group = setup.build();
    let mut subscriber = Subscriber::discovering(5);
    let mut log = Log::default();
    let mut pass = |messages: Vec<Vec<u8>>| {
        for mut message in messages {
            subscriber
                .receive(now(), UP, &mut message, &mut log)
                .unwrap();
        }
        log.data_sets.pop().unwrap().2
    };
    let mut output = Vec::new();
    group.publish(now(), UP, &mut output).unwrap();
    // RawData is nothing without metadata.
    assert_eq!(pass(std::mem::take(&mut output)), []);
    assert_eq!(group.publish_meta_data(now(), &mut output).unwrap(), 1);
    group.publish(now(), UP, &mut output).unwrap();
    let fields = names_and_values(&[("Field", Variant::UInt32(1))]);
    assert_eq!(pass(output), fields);
}
