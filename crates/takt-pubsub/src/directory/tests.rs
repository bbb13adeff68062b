use takt_ua::StatusCode;
use takt_ua::structures::FieldMetaData;

use super::*;

fn meta_data(data_set_writer_id: u16) -> AnnouncementContent {
    let field = FieldMetaData {
        name: "Speed".into(),
        built_in_type: 11,
        value_rank: -1,
        ..FieldMetaData::default()
    };
    AnnouncementContent::DataSetMetaData {
        data_set_writer_id,
        meta_data: Box::new(DataSetMetaDataType {
            fields: vec![field],
            ..DataSetMetaDataType::default()
        }),
        status_code: StatusCode::Good,
    }
}

fn group(writers: u16) -> AnnouncementContent {
    let writer = |data_set_writer_id| DataSetWriterDataType {
        data_set_writer_id,
        ..DataSetWriterDataType::default()
    };
    AnnouncementContent::DataSetWriterConfiguration {
        data_set_writer_ids: Vec::new(),
        data_set_writer_config: Box::new(WriterGroupDataType {
            writer_group_id: 1,
            data_set_writers: (1..=writers).map(writer).collect(),
            ..WriterGroupDataType::default()
        }),
        status_codes: Vec::new(),
    }
}

#[test]
fn announcements_beyond_the_limit_are_refused() {
    let mut directory = DataSetDirectory {
        max_memory: 64 << 10,
        ..DataSetDirectory::default()
    };
    let learned = (1..=1000)
        .take_while(|id| {
            directory
                .learn(PublisherIdRef::UInt16(7), &meta_data(*id))
                .is_ok()
        })
        .count();
    assert!((10..200).contains(&learned), "{learned}");
    assert_eq!(directory.entries.len(), learned);
    // The memory of earlier announcements can be used again.
    for _ in 0..100 {
        directory
            .learn(PublisherIdRef::UInt16(7), &meta_data(1))
            .unwrap();
    }
    assert_eq!(directory.entries.len(), learned);
    let publisher = PublisherIdRef::String(Some("a Publisher with a long name"));
    directory.learn(publisher, &group(u16::MAX)).unwrap_err();
    assert!(directory.places.is_empty());
}

#[test]
fn an_announcement_that_is_refused_leaves_the_one_before() {
    let mut directory = DataSetDirectory {
        max_memory: 64 << 10,
        ..DataSetDirectory::default()
    };
    let publisher = PublisherIdRef::UInt16(7);
    directory.learn(publisher, &meta_data(1)).unwrap();
    directory.learn(publisher, &group(2)).unwrap();
    let AnnouncementContent::DataSetMetaData {
        meta_data: mut longer,
        ..
    } = meta_data(1)
    else {
        panic!()
    };
    longer.fields = vec![longer.fields[0].clone(); 10_000];
    let longer = AnnouncementContent::DataSetMetaData {
        data_set_writer_id: 1,
        meta_data: longer,
        status_code: StatusCode::Good,
    };
    directory.learn(publisher, &longer).unwrap_err();
    directory.learn(publisher, &group(u16::MAX)).unwrap_err();
    assert_eq!((directory.entries.len(), directory.places.len()), (1, 2));
}

#[test]
fn announced_metadata_names_no_fields_of_messages_without_a_publisher() {
    let mut directory = DataSetDirectory::default();
    directory
        .learn(PublisherIdRef::UInt16(7), &meta_data(1))
        .unwrap();
    let named = |publisher: Option<PublisherId>| {
        let content = takt_wire::DataSetContent::KeepAlive;
        let message = takt_wire::DataSetMessage {
            data_set_writer_id: Some(1),
            ..takt_wire::DataSetMessage::new(content)
        };
        let message = takt_wire::NetworkMessage::data(publisher, vec![message]);
        let bytes = message.encode_to_vec().unwrap();
        let message = NetworkMessageRef::new_checked(&bytes).unwrap();
        directory.data_sets_of(&message).fields[0].is_some()
    };
    assert!(named(Some(PublisherId::UInt16(7))));
    assert!(!named(Some(PublisherId::UInt16(8))));
    assert!(!named(None));
}
