//! Generated structures compared with bytes of a foreign stack, and encoded and decoded again.

use proptest::prelude::*;
use takt_ua::binary::{Decode, Decoder, Encode};
use takt_ua::enumerations::{
    AccessLevelType, ApplicationType, BrowseDirection, BrowseResultMask, MessageSecurityMode,
    PermissionType, TimestampsToReturn,
};
use takt_ua::structures::*;
use takt_ua::views::{ReadRequestRef, WriteRequestRef};
use takt_ua::{
    Array, ByteString, DataValue, DateTime, Elements, ExpandedNodeId, ExtensionObject, Guid,
    LocalizedText, NodeId, QualifiedName, StatusCode, Structure, UaString, Variant, ids,
};

/// 2024-02-03T04:05:06Z.
const TIME: DateTime = DateTime(0x01DA_5656_2BA1_0500);

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn decode<'a, T: Decode<'a>>(bytes: &'a [u8]) -> T {
    let mut decoder = Decoder::new(bytes);
    let value = T::decode(&mut decoder).unwrap();
    assert_eq!(decoder.remaining(), 0);
    value
}

/// Encodes to exactly these bytes and decodes from them; every prefix is refused; skipping stops where decoding does.
fn check<T: Structure + PartialEq + std::fmt::Debug>(value: &T, expected: &[u8]) {
    assert_eq!(value.encode_to_vec(), expected);
    assert_eq!(&decode::<T>(expected), value);
    assert!(T::MIN_SIZE <= expected.len());
    for length in 0..expected.len() {
        let cut = &expected[..length];
        assert!(
            T::decode(&mut Decoder::new(cut)).is_err(),
            "{length} bytes were enough"
        );
        assert!(T::skip(&mut Decoder::new(cut)).is_err());
    }
    let mut decoder = Decoder::new(expected);
    T::skip(&mut decoder).unwrap();
    assert_eq!(decoder.remaining(), 0);
}

fn request_header() -> RequestHeader {
    RequestHeader {
        authentication_token: NodeId::opaque(0, &[1, 2, 3]),
        timestamp: TIME,
        request_handle: 7,
        audit_entry_id: "audit".into(),
        timeout_hint: 5000,
        ..RequestHeader::default()
    }
}

#[test]
fn browse_request_as_a_foreign_stack_writes_it() {
    let request = BrowseRequest {
        request_header: request_header(),
        view: ViewDescription::default(),
        requested_max_references_per_node: 10,
        nodes_to_browse: vec![BrowseDescription {
            node_id: NodeId::string(2, "Speed"),
            browse_direction: BrowseDirection::Both,
            reference_type_id: NodeId::numeric(0, ids::HIERARCHICAL_REFERENCES),
            include_subtypes: true,
            node_class_mask: 0,
            result_mask: 63,
        }],
    };
    let expected = bytes(
        "050000030000000102030005a12b5656da0107000000000000000500000061756469748813000000000000000000000000000000\
         000000000a0000000100000003020005000000537065656402000000002101000000003f000000",
    );
    check(&request, &expected);
    assert_eq!(BrowseRequest::BINARY_ENCODING_ID, 0x020f);
}

#[test]
fn write_request_as_a_foreign_stack_writes_it() {
    let value = DataValue::good(vec![1.5, 2.5])
        .with_status(StatusCode::Uncertain)
        .with_source_timestamp(TIME);
    let request = WriteRequest {
        request_header: request_header(),
        nodes_to_write: vec![WriteValue {
            node_id: NodeId::numeric(3, 1000),
            attribute_id: 13,
            index_range: "1:2".into(),
            value,
        }],
    };
    let expected = bytes(
        "050000030000000102030005a12b5656da01070000000000000005000000617564697488130000000000010000000103e8030d00\
         000003000000313a32078b02000000000000000000f83f0000000000000440000000400005a12b5656da01",
    );
    check(&request, &expected);

    let view: WriteRequestRef<'_> = decode(&expected);
    assert_eq!(view.to_owned(), request);
    assert_eq!(view.encode_to_vec(), expected);
}

#[test]
fn data_set_meta_data_as_a_foreign_stack_writes_it() {
    let meta_data = DataSetMetaDataType {
        namespaces: vec!["urn:a".into()],
        name: "DS".into(),
        description: LocalizedText {
            locale: "en".into(),
            text: "d".into(),
        },
        fields: vec![FieldMetaData {
            name: "f".into(),
            field_flags: 1,
            built_in_type: 7,
            data_type: NodeId::numeric(0, ids::UINT32),
            value_rank: -1,
            data_set_field_id: "72962b91-fa75-4ae6-8d28-b404dc7daf63".parse().unwrap(),
            properties: vec![KeyValuePair {
                key: QualifiedName::new(1, "k"),
                value: 5u16.into(),
            }],
            ..FieldMetaData::default()
        }],
        configuration_version: ConfigurationVersionDataType {
            major_version: 1,
            minor_version: 2,
        },
        ..DataSetMetaDataType::default()
    };
    let expected = bytes(
        "010000000500000075726e3a610000000000000000000000000200000044530302000000656e0100000064010000000100000066\
         000100070007ffffffff0000000000000000912b967275fae64a8d28b404dc7daf63010000000100010000006b05050000000000\
         0000000000000000000000000100000002000000",
    );
    check(&meta_data, &expected);
}

#[test]
fn browse_path_result_as_a_foreign_stack_writes_it() {
    let result = BrowsePathResult {
        status_code: StatusCode::Good,
        targets: vec![BrowsePathTarget {
            target_id: ExpandedNodeId {
                node_id: NodeId::numeric(2, 5),
                namespace_uri: "urn:x".into(),
                server_index: 0,
            },
            remaining_path_index: u32::MAX,
        }],
    };
    check(
        &result,
        &bytes("0000000001000000810205000500000075726e3a78ffffffff"),
    );
}

#[test]
fn read_request_is_the_same_borrowed() {
    let request = ReadRequest {
        request_header: RequestHeader {
            request_handle: 1,
            ..RequestHeader::default()
        },
        max_age: 0.0,
        timestamps_to_return: TimestampsToReturn::Both,
        nodes_to_read: vec![ReadValueId {
            node_id: NodeId::numeric(0, ids::SERVER_SERVER_STATUS_CURRENT_TIME),
            attribute_id: 13,
            ..ReadValueId::default()
        }],
    };
    let mut expected = vec![0, 0]; // authenticationToken i=0
    expected.extend([0; 8]); // timestamp
    expected.extend([1, 0, 0, 0]); // requestHandle
    expected.extend([0; 4]); // returnDiagnostics
    expected.extend([0xFF; 4]); // auditEntryId
    expected.extend([0; 4]); // timeoutHint
    expected.extend([0, 0, 0]); // additionalHeader: null NodeId, no body
    expected.extend([0; 8]); // maxAge
    expected.extend([2, 0, 0, 0]); // timestampsToReturn
    expected.extend([1, 0, 0, 0]); // nodesToRead
    expected.extend([1, 0, 0xD2, 0x08]); // i=2258
    expected.extend([13, 0, 0, 0]); // attributeId
    expected.extend([0xFF; 4]); // indexRange
    expected.extend([0, 0, 0xFF, 0xFF, 0xFF, 0xFF]); // dataEncoding
    check(&request, &expected);

    let view: ReadRequestRef<'_> = decode(&expected);
    assert_eq!(view.to_owned(), request);
    assert_eq!(view.encode_to_vec(), expected);
    assert_eq!(
        ReadRequestRef::BINARY_ENCODING_ID,
        ids::READ_REQUEST_ENCODING_DEFAULT_BINARY
    );
    assert_eq!(ReadRequestRef::TYPE_ID, ids::READ_REQUEST);
    let node = view.nodes_to_read.iter().next().unwrap();
    assert_eq!(
        (
            node.attribute_id,
            node.index_range,
            view.nodes_to_read.len()
        ),
        (13, None, 1)
    );
}

#[test]
fn optional_fields_are_where_the_mask_says() {
    let mut record = LogRecord {
        time: DateTime(1),
        severity: 100,
        message: "m".into(),
        ..LogRecord::default()
    };
    let without = bytes("000000000100000000000000640002010000006d");
    check(&record, &without);

    record.source_node = Some(NodeId::numeric(0, 5));
    record.additional_data = Some(vec![NameValuePair {
        name: "n".into(),
        value: true.into(),
    }]);
    // Bits 1 and 4 of the mask; the mandatory Message stands between the two fields.
    check(
        &record,
        &bytes("1200000001000000000000006400000502010000006d01000000010000006e0101"),
    );

    record.event_type = Some(NodeId::numeric(0, ids::BASE_EVENT_TYPE));
    record.source_name = Some(UaString::null());
    record.trace_context = Some(TraceContextDataType::default());
    let all = record.encode_to_vec();
    assert_eq!(all[0], 0b1_1111);
    check(&record, &all);
}

#[test]
fn bases_come_first_and_subtypes_travel_in_extension_objects() {
    let token = UserNameIdentityToken {
        policy_id: "p".into(),
        user_name: "u".into(),
        password: ByteString::from(&[1]),
        ..UserNameIdentityToken::default()
    };
    let wrapped = ExtensionObject::from_structure(&token);
    assert_eq!(wrapped.type_id, NodeId::numeric(0, 324));
    assert_eq!(wrapped.decode_as::<UserNameIdentityToken>().unwrap(), token);
    assert!(wrapped.decode_as::<X509IdentityToken>().is_err());
    // The abstract base type decodes the common first field of all tokens.
    let base = UserIdentityToken::decode(&mut Decoder::new(&token.encode_to_vec())).unwrap();
    assert_eq!(base.policy_id, token.policy_id);
}

#[test]
fn enumerations_are_open() {
    assert_eq!(
        MessageSecurityMode::SignAndEncrypt.name(),
        Some("SignAndEncrypt")
    );
    assert_eq!(
        format!("{:?}", ApplicationType::ClientAndServer),
        "ClientAndServer"
    );
    let unknown: ApplicationType = decode(&[0x2A, 0, 0, 0]);
    assert_eq!((unknown.0, unknown.name()), (42, None));
    assert_eq!(format!("{unknown:?}"), "ApplicationType(42)");
    assert_eq!(unknown.encode_to_vec(), [0x2A, 0, 0, 0]);
    assert_eq!(BrowseResultMask::All.0, 63);
}

#[test]
fn option_sets_are_masks() {
    assert_eq!(
        (AccessLevelType::CurrentRead, AccessLevelType::CurrentWrite),
        (1u8, 2u8)
    );
    assert_eq!(PermissionType::AddNode, 1u32 << 16);
}

#[test]
fn all_of_a_greedy_array_length_is_refused() {
    // 2^31 - 1 nodes in a message that ends there.
    let mut message = ReadRequest::default().encode_to_vec();
    let length = message.len();
    message[length - 4..].copy_from_slice(&i32::MAX.to_le_bytes());
    assert!(ReadRequest::decode(&mut Decoder::new(&message)).is_err());
    assert!(ReadRequestRef::decode(&mut Decoder::new(&message)).is_err());
}

fn any_node_id() -> impl Strategy<Value = NodeId> {
    let namespace = any::<u16>();
    prop_oneof![
        (namespace, any::<u32>()).prop_map(|(namespace, id)| NodeId::numeric(namespace, id)),
        (any::<u16>(), ".{0,12}").prop_map(|(namespace, id)| NodeId::string(namespace, &id)),
        (any::<u16>(), any::<[u8; 8]>()).prop_map(|(namespace, data4)| {
            let guid = Guid {
                data1: 1,
                data2: 2,
                data3: 3,
                data4,
            };
            NodeId::guid(namespace, guid)
        }),
        (any::<u16>(), any::<Vec<u8>>()).prop_map(|(namespace, id)| NodeId::opaque(namespace, &id)),
    ]
}

fn any_variant() -> impl Strategy<Value = Variant> {
    prop_oneof![
        any::<u32>().prop_map(Variant::from),
        any::<i64>().prop_map(Variant::from),
        ".{0,12}".prop_map(|text| Variant::from(text.as_str())),
        any::<Vec<u16>>().prop_map(Variant::from),
        any_node_id().prop_map(|id| Variant::NodeId(Box::new(id))),
        proptest::collection::vec(any::<bool>(), 1..20).prop_map(|bits| {
            let dimensions = vec![1, u32::try_from(bits.len()).unwrap()];
            Variant::Array(Box::new(Array {
                elements: Elements::Boolean(bits),
                dimensions,
            }))
        }),
    ]
}

prop_compose! {
    fn any_write_value()(
        node_id in any_node_id(),
        attribute_id: u32,
        index_range in proptest::option::of("[0-9:,]{0,8}"),
        value in proptest::option::of(any_variant()),
        status in proptest::option::of(any::<u32>()),
        time in proptest::option::of(any::<i64>()),
        // More than 9999 is read as 9999 (OPC 10000-6, 5.2.2.17).
        picoseconds in proptest::option::of(0..10_000u16),
    ) -> WriteValue {
        let value = DataValue {
            value,
            status: status.map(StatusCode),
            source_timestamp: time.map(DateTime),
            source_picoseconds: picoseconds,
            server_timestamp: time.map(DateTime),
            ..DataValue::default()
        };
        WriteValue { node_id, attribute_id, index_range: UaString::from(index_range), value }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn write_requests_survive_a_round_trip(nodes in proptest::collection::vec(any_write_value(), 0..8)) {
        let request = WriteRequest { request_header: request_header(), nodes_to_write: nodes };
        let message = request.encode_to_vec();
        prop_assert_eq!(&decode::<WriteRequest>(&message), &request);
        let view: WriteRequestRef<'_> = decode(&message);
        prop_assert_eq!(view.to_owned(), request);
        prop_assert_eq!(view.encode_to_vec(), message);
    }

    /// Owned and borrowed form agree on what is valid, and where it ends.
    #[test]
    fn forms_agree_on_damaged_messages(
        nodes in proptest::collection::vec(any_write_value(), 0..4),
        position: prop::sample::Index,
        byte: u8,
    ) {
        let mut message = WriteRequest { request_header: request_header(), nodes_to_write: nodes }.encode_to_vec();
        let position = position.index(message.len());
        message[position] = byte;
        let (mut owned, mut borrowed) = (Decoder::new(&message), Decoder::new(&message));
        let request = WriteRequest::decode(&mut owned);
        let view = WriteRequestRef::decode(&mut borrowed);
        prop_assert_eq!(request.is_ok(), view.is_ok());
        if let (Ok(request), Ok(view)) = (request, view) {
            prop_assert_eq!(owned.position(), borrowed.position());
            // Encodings are compared, since NaN is not equal to itself.
            prop_assert_eq!(view.to_owned().encode_to_vec(), request.encode_to_vec());
        }
    }
}
