//! Discovery messages as bytes.

use takt_ua::enumerations::PubSubState;
use takt_ua::structures::{
    ActionMethodDataType, ActionTargetDataType, ApplicationDescription, DataSetMetaDataType,
    EndpointDescription, FieldMetaData, KeyValuePair, PubSubConnectionDataType,
    ReaderGroupDataType, WriterGroupDataType,
};
use takt_ua::{DateTime, StatusCode, Variant};

use super::*;
use crate::network_message::{NetworkMessage, NetworkMessageRef, Payload, PayloadParameters};
use crate::publisher_id::PublisherId;

/// Encodes and decodes; returns the bytes of the payload.
fn round_trip(publisher_id: PublisherId, payload: Payload) -> Vec<u8> {
    let message = NetworkMessage::discovery(publisher_id, payload);
    let bytes = message.encode_to_vec().unwrap();
    let decoded = NetworkMessage::decode(&bytes, &PayloadParameters::default());
    assert_eq!(decoded.as_ref(), Ok(&message));
    let layout = NetworkMessageRef::new_checked(&bytes)
        .and_then(|message| message.security_layout(0))
        .unwrap();
    bytes[layout.encrypted].to_vec()
}

fn probe(probe: DiscoveryProbe) -> Vec<u8> {
    round_trip(PublisherId::UInt16(5), Payload::DiscoveryProbe(probe))
}

fn announce(content: AnnouncementContent) -> Vec<u8> {
    let announcement = DiscoveryAnnouncement {
        sequence_number: 0x0201,
        content,
    };
    round_trip(
        PublisherId::UInt16(5),
        Payload::DiscoveryAnnouncement(Box::new(announcement)),
    )
}

#[test]
fn every_probe_as_bytes() {
    assert_eq!(probe(DiscoveryProbe::PublisherEndpoints), [1, 1]);
    let data_set_writer_ids = vec![7, 8];
    let meta_data = DiscoveryProbe::DataSetMetaData {
        data_set_writer_ids: data_set_writer_ids.clone(),
    };
    assert_eq!(probe(meta_data), [1, 2, 2, 0, 0, 0, 7, 0, 8, 0]);
    let configuration = DiscoveryProbe::DataSetWriterConfiguration {
        data_set_writer_ids,
    };
    assert_eq!(probe(configuration), [1, 3, 2, 0, 0, 0, 7, 0, 8, 0]);
    let group = DiscoveryProbe::WriterGroupConfiguration {
        writer_group_id: 9,
        include_data_set_writers: true,
    };
    assert_eq!(probe(group), [1, 4, 9, 0, 1]);
    let connections = DiscoveryProbe::PubSubConnections {
        transport_profile_uris: vec!["u".into()],
        include_writer_groups: true,
        include_data_set_writers: false,
    };
    assert_eq!(
        probe(connections),
        [1, 5, 1, 0, 0, 0, 1, 0, 0, 0, b'u', 1, 0]
    );
    let find = Payload::DiscoveryProbe(DiscoveryProbe::FindApplications);
    assert_eq!(round_trip(PublisherId::NULL, find), [2]);
}

#[test]
fn the_header_is_known_beforehand() {
    let payload = Payload::DiscoveryProbe(DiscoveryProbe::PublisherEndpoints);
    let message = NetworkMessage::discovery(PublisherId::UInt16(5), payload);
    let bytes = message.encode_to_vec().unwrap();
    assert_eq!(bytes, [0x91, 0x91, 0x04, 5, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
}

#[test]
fn a_probe_of_version_1_04_is_read() {
    // No SecurityHeader, and a null array of DataSetWriterIds.
    let bytes = [0x91, 0x81, 0x04, 5, 0, 1, 1, 0xFF, 0xFF, 0xFF, 0xFF];
    let message = NetworkMessage::decode(&bytes, &PayloadParameters::default()).unwrap();
    let expected = Payload::DiscoveryProbe(DiscoveryProbe::PublisherEndpoints);
    assert_eq!(message.payload, expected);
}

#[test]
fn every_announcement_survives() {
    let bytes = announce(AnnouncementContent::PublisherEndpoints {
        endpoints: vec![EndpointDescription::default()],
        status_code: StatusCode::Good,
    });
    assert_eq!(bytes[..7], [1, 1, 2, 1, 0, 0, 0]);
    let bytes = announce(AnnouncementContent::DataSetMetaData {
        data_set_writer_id: 4,
        meta_data: Box::new(DataSetMetaDataType {
            name: "Machine".into(),
            ..DataSetMetaDataType::default()
        }),
        status_code: StatusCode::BadNotFound,
    });
    assert_eq!(bytes[..5], [2, 1, 2, 4, 0]);
    let bytes = announce(AnnouncementContent::DataSetWriterConfiguration {
        data_set_writer_ids: vec![4],
        data_set_writer_config: Box::new(WriterGroupDataType::default()),
        status_codes: vec![StatusCode::Good],
    });
    assert_eq!(bytes[0], 3);
    let connections = || vec![PubSubConnectionDataType::default()];
    assert_eq!(
        announce(AnnouncementContent::PubSubConnections(connections()))[0],
        4
    );
    let description = ApplicationInformation::ApplicationDescription {
        application_description: Box::new(ApplicationDescription::default()),
        capabilities: vec!["DA".into()],
    };
    let bytes = announce(AnnouncementContent::ApplicationInformation(description));
    assert_eq!(bytes[..5], [5, 1, 2, 1, 0]);
    assert_eq!(
        announce(AnnouncementContent::ActionResponder(connections()))[0],
        6
    );
    let bytes = announce(AnnouncementContent::ActionMetaData {
        data_set_writer_id: 4,
        action_targets: vec![ActionTargetDataType::default()],
        request: Box::default(),
        response: Box::default(),
        action_methods: vec![ActionMethodDataType::default()],
    });
    assert_eq!(bytes[0], 7);
}

#[test]
fn times_are_there_if_the_status_is_cyclic() {
    let status = |cyclic| {
        announce(AnnouncementContent::ApplicationInformation(
            ApplicationInformation::Status {
                status: PubSubState::Operational,
                cyclic,
            },
        ))
    };
    assert_eq!(status(None), [5, 1, 2, 2, 0, 0, 2, 0, 0, 0]);
    let cyclic = status(Some((DateTime(1), DateTime(2))));
    assert_eq!(cyclic.len(), 10 + 16);
    assert_eq!(cyclic[5], 1);
}

#[test]
fn arrays_that_do_not_fit_each_other_are_refused() {
    let announcement = |content| {
        let announcement = DiscoveryAnnouncement {
            sequence_number: 1,
            content,
        };
        let payload = Payload::DiscoveryAnnouncement(Box::new(announcement));
        NetworkMessage::discovery(PublisherId::Byte(1), payload).encode_to_vec()
    };
    let configuration = AnnouncementContent::DataSetWriterConfiguration {
        data_set_writer_ids: vec![1, 2],
        data_set_writer_config: Box::default(),
        status_codes: vec![StatusCode::Good],
    };
    assert!(announcement(configuration).is_err());
    let with_readers = PubSubConnectionDataType {
        reader_groups: vec![ReaderGroupDataType::default()],
        ..PubSubConnectionDataType::default()
    };
    assert!(announcement(AnnouncementContent::PubSubConnections(vec![with_readers])).is_err());
}

#[test]
fn unknown_types_are_refused() {
    for payload in [&[0_u8, 0][..], &[3], &[1, 0], &[1, 6]] {
        let mut bytes = vec![0x91, 0x80, 0x04, 5];
        bytes.extend_from_slice(payload);
        assert!(NetworkMessage::decode(&bytes, &PayloadParameters::default()).is_err());
    }
    for announcement in [[8_u8, 0, 0, 0, 0], [5, 0, 0, 3, 0]] {
        let mut bytes = vec![0x91, 0x80, 0x08, 5];
        bytes.extend_from_slice(&announcement);
        assert!(NetworkMessage::decode(&bytes, &PayloadParameters::default()).is_err());
    }
}

/// Returns metadata of one field with two properties.
fn with_properties(values: [Variant; 2]) -> Box<DataSetMetaDataType> {
    let property = |value| KeyValuePair {
        key: takt_ua::QualifiedName::new(1, "Range"),
        value,
    };
    let field = FieldMetaData {
        name: "Pressure".into(),
        properties: values.map(property).into(),
        ..FieldMetaData::default()
    };
    Box::new(DataSetMetaDataType {
        fields: vec![field],
        ..DataSetMetaDataType::default()
    })
}

#[test]
fn a_property_that_cannot_be_decoded_is_one_bad_value() {
    let announcement = |values| {
        let content = AnnouncementContent::DataSetMetaData {
            data_set_writer_id: 7,
            meta_data: with_properties(values),
            status_code: StatusCode::Good,
        };
        let sequence_number = 1;
        let announcement = Box::new(DiscoveryAnnouncement {
            sequence_number,
            content,
        });
        let payload = Payload::DiscoveryAnnouncement(announcement);
        NetworkMessage::discovery(PublisherId::UInt16(5), payload)
    };
    let good = Variant::Int32(12);
    let sent = announcement([Variant::from("x"), good.clone()]);
    let mut bytes = sent.encode_to_vec().unwrap();
    let text = [12, 1, 0, 0, 0, b'x'];
    let position = bytes.windows(6).position(|six| six == text).unwrap();
    // A Variant directly within a Variant.
    for bad in [[0x18, 7, 1, 0, 0, 0], [0x18, 10, 0, 0, 0xC0, 0x7F]] {
        bytes[position..position + 6].copy_from_slice(&bad);
        let received = NetworkMessage::decode(&bytes, &PayloadParameters::default());
        let bad = Variant::StatusCode(StatusCode::BadDecodingError);
        assert_eq!(received, Ok(announcement([bad, good.clone()])));
    }
    // The end of this one is not known.
    bytes[position] = 0x3F;
    assert!(NetworkMessage::decode(&bytes, &PayloadParameters::default()).is_err());
}
