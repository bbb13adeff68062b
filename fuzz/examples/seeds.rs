//! Writes fuzz/seeds: inputs that the encoders of Takt make, a few for each target. Run it in the folder fuzz after a format has
//! changed:
//!
//! ```text
//! cargo run --example seeds
//! ```

use std::fs;
use std::path::Path;
use std::time::Duration;

use takt_capture::CaptureWriter;
use takt_cell::{Cell, CellLocation, shared};
use takt_crypto::{EllipticCurve, KeyKind, NewCertificate};
use takt_layout::LaidOut;
use takt_pubsub::configuration::{from_toml, to_binary_file};
use takt_tcp::{
    ClientConnection, ClientConnectionConfig, ServerConnection, ServerConnectionConfig,
};
use takt_ua::binary::{Encode, Encoder};
use takt_ua::enumerations::{FilterOperator, NodeClass, StructureType};
use takt_ua::structures::*;
use takt_ua::*;
use takt_wire::{
    AnnouncementContent, Chunk, DataSetContent, DataSetMessage, DiscoveryAnnouncement, Fields,
    NetworkMessage, NetworkMessageType, Payload, PublisherId,
};

fn write(target: &str, name: &str, bytes: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("seeds")
        .join(target);
    fs::create_dir_all(&folder).expect("a folder for seeds");
    fs::write(folder.join(name), bytes).expect("a seed");
}

/// A choice in front of an input.
fn chosen(choice: u8, bytes: &[u8]) -> Vec<u8> {
    [&[choice], bytes].concat()
}

/// Parts, each with its length in one byte.
fn parts(parts: &[&[u8]]) -> Vec<u8> {
    let part = |part: &&[u8]| chosen(u8::try_from(part.len()).expect("a short part"), part);
    parts.iter().flat_map(part).collect()
}

/// Parts, each with its length in two bytes.
fn long_parts(parts: &[&[u8]]) -> Vec<u8> {
    let part = |part: &&[u8]| {
        let length = u16::try_from(part.len()).expect("a part").to_le_bytes();
        [&length[..], part].concat()
    };
    parts.iter().flat_map(part).collect()
}

fn node() -> NodeId {
    NodeId::string(1, "Spindle/Speed")
}

fn variants() -> Vec<(&'static str, Variant)> {
    let matrix = Variant::Array(Box::new(Array {
        elements: Elements::Int32((1..=6).collect()),
        dimensions: vec![2, 3],
    }));
    let structure = ExtensionObject::from_structure(&EUInformation::default());
    vec![
        ("number", Variant::Double(1.5)),
        ("text", "Takt".into()),
        ("array", vec![1_u32, 2, 3].into()),
        ("matrix", matrix),
        ("structure", Variant::ExtensionObject(Box::new(structure))),
    ]
}

fn ua() {
    let id = node();
    let encoded: [(u8, Vec<u8>); 8] = [
        (0, UaString::from("text").encode_to_vec()),
        (1, ByteString::from(&[1_u8, 2]).encode_to_vec()),
        (4, DateTime::now().encode_to_vec()),
        (6, id.encode_to_vec()),
        (7, ExpandedNodeId::from(id.clone()).encode_to_vec()),
        (8, QualifiedName::new(1, "Name").encode_to_vec()),
        (9, LocalizedText::from("text").encode_to_vec()),
        (
            10,
            ExtensionObject::from_structure(&Argument::default()).encode_to_vec(),
        ),
    ];
    for (kind, bytes) in encoded {
        write(
            "ua_built_in",
            &format!("kind-{kind}"),
            &chosen(kind, &bytes),
        );
    }
    for (name, variant) in variants() {
        let value = DataValue::good(variant.clone()).with_source_timestamp(DateTime::now());
        write(
            "ua_variant",
            &format!("value-{name}"),
            &chosen(0, &value.encode_to_vec()),
        );
        write("ua_variant", name, &chosen(1, &variant.encode_to_vec()));
        let kind = variant.built_in_type().map_or(0, |it| it as u8);
        let text = json::to_value(&variant).to_string();
        write("ua_json", name, &chosen(kind, text.as_bytes()));
    }
    for (kind, text) in [
        (0, "ns=1;s=Spindle/Speed"),
        (1, "svr=1;nsu=urn:a;i=5"),
        (2, "2:Name"),
        (3, "72962B91-FA75-4AE6-8D28-B404DC7DAF63"),
        (4, "2026-01-02T03:04:05.678Z"),
        (5, "1:3,0"),
        (6, "opc.tcp://127.0.0.1:4840/path"),
        (7, "opc.iox2://Machine"),
    ] {
        write(
            "ua_text",
            &format!("kind-{kind}"),
            &chosen(kind, text.as_bytes()),
        );
    }
}

fn read_request() -> ReadRequest {
    ReadRequest {
        nodes_to_read: vec![ReadValueId {
            node_id: node(),
            attribute_id: 13,
            ..ReadValueId::default()
        }],
        ..ReadRequest::default()
    }
}

fn read_response() -> ReadResponse {
    let values = variants()
        .into_iter()
        .map(|(_, variant)| DataValue::good(variant));
    ReadResponse {
        results: values.collect(),
        ..ReadResponse::default()
    }
}

fn browse_response() -> BrowseResponse {
    let reference = ReferenceDescription {
        reference_type_id: NodeId::numeric(0, 35),
        is_forward: true,
        node_id: node().into(),
        browse_name: QualifiedName::new(1, "A"),
        display_name: "A".into(),
        node_class: NodeClass::Object,
        ..ReferenceDescription::default()
    };
    BrowseResponse {
        results: vec![BrowseResult {
            continuation_point: ByteString::from(&[1_u8]),
            references: vec![reference],
            ..BrowseResult::default()
        }],
        ..BrowseResponse::default()
    }
}

/// Filters of Events: selected fields, and a WHERE clause of two elements and literals.
fn event_filter() {
    let field = |name: &str| SimpleAttributeOperand {
        type_definition_id: NodeId::from(ids::BASE_EVENT_TYPE),
        browse_path: vec![QualifiedName::new(0, name)],
        attribute_id: 13,
        ..SimpleAttributeOperand::default()
    };
    let operand = |name: &str| ExtensionObject::from_structure(&field(name));
    let literal = |value: Variant| ExtensionObject::from_structure(&LiteralOperand { value });
    let element = |filter_operator, filter_operands| ContentFilterElement {
        filter_operator,
        filter_operands,
    };
    let both = [1, 2].map(|index| ExtensionObject::from_structure(&ElementOperand { index }));
    let like = vec![operand("Message"), literal("%hot[a-z]%".into())];
    let severe = vec![operand("Severity"), literal(500_u16.into())];
    let elements = vec![
        element(FilterOperator::And, both.to_vec()),
        element(FilterOperator::Like, like),
        element(FilterOperator::GreaterThan, severe),
    ];
    let filter = EventFilter {
        select_clauses: vec![field("Message"), field("Severity")],
        where_clause: ContentFilter { elements },
    };
    write("event_filter", "where", &filter.encode_to_vec());
    let plain = EventFilter {
        where_clause: ContentFilter::default(),
        ..filter
    };
    write("event_filter", "select", &plain.encode_to_vec());
}

fn services() {
    let structure = |name: &str, id: u32, body: &[u8]| {
        let id = u16::try_from(id)
            .expect("an id of the standard")
            .to_le_bytes();
        write("ua_structure", name, &[&id[..], body].concat());
    };
    let (read, browse) = (
        read_request().encode_to_vec(),
        browse_response().encode_to_vec(),
    );
    structure("read", ReadRequest::BINARY_ENCODING_ID, &read);
    structure("browse", BrowseResponse::BINARY_ENCODING_ID, &browse);
    write("ua_view", "read", &chosen(0, &read));
    write(
        "ua_view",
        "values",
        &chosen(3, &read_response().encode_to_vec()),
    );
    // Behind the header, which the targets make themselves.
    let header = RequestHeader::default().encode_to_vec().len();
    write(
        "services",
        "read",
        &long_parts(&[&chosen(15, &read[header..])]),
    );
    let header = ResponseHeader::default().encode_to_vec().len();
    let behind = |response: Vec<u8>| chosen(1, &response[header..]);
    let values = behind(read_response().encode_to_vec());
    let references = behind(browse);
    let more = behind(
        BrowseNextResponse {
            results: browse_response().results,
            ..BrowseNextResponse::default()
        }
        .encode_to_vec(),
    );
    let called = behind(
        CallResponse {
            results: vec![CallMethodResult {
                output_arguments: vec![Variant::Double(1.5)],
                ..CallMethodResult::default()
            }],
            ..CallResponse::default()
        }
        .encode_to_vec(),
    );
    let created = behind(
        CreateSubscriptionResponse {
            subscription_id: 1,
            revised_publishing_interval: 100.0,
            ..CreateSubscriptionResponse::default()
        }
        .encode_to_vec(),
    );
    let one = |name: &str, question: u8, answers: &[&[u8]]| {
        write("app_client", name, &chosen(question, &long_parts(answers)));
    };
    one("read", 0, &[&values]);
    one("call", 2, &[&called]);
    one("browse", 3, &[&references, &more, &more]);
    one("find", 6, &[&references, &more, &references]);
    one("subscribe", 0xFF, &[&created, &values, &values]);
    let mut laid_out = Vec::new();
    let mut encoder = Encoder::growing(&mut laid_out, 1 << 16);
    read_request()
        .lay_out(&mut encoder)
        .expect("a request that fits");
    write("layout", "read", &laid_out);
    write("shm_message", "read", &laid_out);
}

fn tcp() {
    let now = std::time::Instant::now();
    let mut client = ClientConnection::new(
        ClientConnectionConfig::default(),
        "opc.tcp://127.0.0.1:4840",
    );
    let mut server = ServerConnection::new(ServerConnectionConfig::default().into(), 7, now);
    let (mut sent, mut answered) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let bytes = client.transmit().to_vec();
        client.transmitted(bytes.len());
        server.receive_space()[..bytes.len()].copy_from_slice(&bytes);
        server.received(bytes.len());
        while let Ok(Some(_)) = server.poll(now) {}
        sent.push(bytes);
        let bytes = server.transmit().to_vec();
        server.transmitted(bytes.len(), now);
        client.receive_space()[..bytes.len()].copy_from_slice(&bytes);
        client.received(bytes.len());
        while let Ok(Some(_)) = client.poll(now) {}
        answered.push(bytes);
    }
    let slices = |bytes: &[Vec<u8>]| parts(&bytes.iter().map(Vec::as_slice).collect::<Vec<_>>());
    write("tcp_server", "opening", &chosen(0, &slices(&sent)));
    write("tcp_client", "opening", &chosen(0, &slices(&answered)));
}

fn meta_data() -> DataSetMetaDataType {
    let field = |name: &str, built_in_type: u8| FieldMetaData {
        name: name.into(),
        built_in_type,
        data_type: NodeId::numeric(0, built_in_type.into()),
        value_rank: -1,
        ..FieldMetaData::default()
    };
    DataSetMetaDataType {
        name: "D".into(),
        fields: vec![field("A", 11), field("B", 7)],
        ..DataSetMetaDataType::default()
    }
}

/// Metadata with a structure of a number, an enumeration and an optional array of itself.
fn described_meta_data() -> DataSetMetaDataType {
    let id = |id: u32| NodeId::numeric(1, id);
    let field = |name: &str, data_type: NodeId, value_rank: i32| StructureField {
        name: name.into(),
        data_type,
        value_rank,
        is_optional: value_rank > 0,
        ..StructureField::default()
    };
    DataSetMetaDataType {
        structure_data_types: vec![StructureDescription {
            data_type_id: id(1),
            name: QualifiedName::new(1, "S"),
            structure_definition: StructureDefinition {
                default_encoding_id: id(2),
                structure_type: StructureType::StructureWithOptionalFields,
                fields: vec![
                    field("A", NodeId::numeric(0, 6), -1),
                    field("B", id(3), -1),
                    field("C", id(1), 1),
                ],
                ..StructureDefinition::default()
            },
        }],
        enum_data_types: vec![EnumDescription {
            data_type_id: id(3),
            enum_definition: EnumDefinition {
                fields: vec![EnumField {
                    name: "One".into(),
                    value: 1,
                    ..EnumField::default()
                }],
            },
            built_in_type: 6,
            ..EnumDescription::default()
        }],
        ..meta_data()
    }
}

fn uadp(payload: Payload) -> Vec<u8> {
    let message = NetworkMessage {
        publisher_id: Some(PublisherId::UInt16(17)),
        ..NetworkMessage::new(payload)
    };
    message.encode_to_vec().expect("a message")
}

fn data() -> Vec<u8> {
    let values = vec![Variant::Double(1.5), Variant::UInt32(7)];
    uadp(Payload::DataSetMessages(vec![DataSetMessage {
        data_set_writer_id: Some(3),
        sequence_number: Some(1),
        ..DataSetMessage::new(DataSetContent::KeyFrame(Fields::Variant(values)))
    }]))
}

fn pubsub() {
    let announcement = uadp(Payload::DiscoveryAnnouncement(Box::new(
        DiscoveryAnnouncement {
            sequence_number: 1,
            content: AnnouncementContent::DataSetMetaData {
                data_set_writer_id: 3,
                meta_data: Box::new(meta_data()),
                status_code: StatusCode::Good,
            },
        },
    )));
    let chunk = uadp(Payload::Chunk(Chunk {
        network_message_type: NetworkMessageType::DataSetMessage,
        data_set_writer_id: Some(3),
        message_sequence_number: 1,
        chunk_offset: 0,
        total_size: 20,
        chunk_data: vec![1; 10],
    }));
    let data = data();
    write("wire_uadp", "data", &chosen(0, &data));
    write("wire_uadp", "announcement", &chosen(0, &announcement));
    write("wire_uadp", "chunk", &chosen(0, &chunk));
    write(
        "wire_discovery",
        "announcement",
        &chosen(1, &announcement[6..]),
    );
    write("wire_chunks", "two", &[0, 1, 0, 20, 10, 0, 1, 10, 20, 10]);
    let raw = [meta_data().encode_to_vec(), vec![0; 12]].concat();
    let described = [described_meta_data().encode_to_vec(), vec![1; 12]].concat();
    write("ua_described", "structure", &described);
    write("wire_raw_data", "two-fields", &raw);
    write("pubsub_security", "data", &parts(&[&data, &data]));
    write("pubsub_action", "data", &parts(&[&data]));
    let json = br#"{"MessageId":"1","MessageType":"ua-data","PublisherId":"P","Messages":[{"DataSetWriterId":1,"Payload":{"A":1}}]}"#;
    let changed = [0, 0x80, 1];
    let learned = [long_parts(&[&announcement, &data, &data]), changed.to_vec()].concat();
    write("subscriber", "uadp", &learned);
    write("subscriber", "json", &long_parts(&[json, json]));
    write("subscriber", "chunk", &long_parts(&[&chunk]));
    for name in ["publisher", "subscriber"] {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../examples/pubsub/{name}.toml"));
        let text = fs::read_to_string(path).expect("an example");
        let binary =
            to_binary_file(&from_toml(&text).expect("a configuration")).expect("a configuration");
        write(
            "pubsub_configuration",
            &format!("{name}.toml"),
            text.as_bytes(),
        );
        write("pubsub_configuration", &format!("{name}.uabinary"), &binary);
    }
    links(&data);
}

fn links(message: &[u8]) {
    let frame = [
        &[
            1, 0, 0x5E, 0, 0, 1, 2, 0, 0, 0, 0, 7, 0x81, 0, 0xC0, 5, 0xB6, 0x2C,
        ][..],
        message,
    ]
    .concat();
    write("link_frame", "tagged", &chosen(0, &frame));
    let mut control = 20_usize.to_ne_bytes().to_vec();
    control.extend([263_i32.to_ne_bytes(), 8_i32.to_ne_bytes()].concat());
    control.extend([0; 8]);
    write("link_frame", "control", &chosen(1, &control));
    let control = |level: i32, kind: i32, data: &[u8]| {
        let mut control = (16 + data.len()).to_ne_bytes().to_vec();
        control.extend([level.to_ne_bytes(), kind.to_ne_bytes()].concat());
        control.extend(data);
        chosen(1, &control)
    };
    // SCM_TIMESTAMPING: times of the kernel and of the network card, in seconds and nanoseconds.
    let times: [i64; 6] = [1_800_000_000, 7, 0, 0, 1_800_000_037, 9];
    let times = times.map(i64::to_ne_bytes).concat();
    write("link_frame", "receive_times", &control(1, 37, &times));
    // PACKET_TX_TIMESTAMP: ECANCELED, SO_EE_ORIGIN_TXTIME, SO_EE_CODE_TXTIME_MISSED, and a launch time.
    let missed = [
        125, 0, 0, 0, 6, 0, 2, 0, 0x15, 0xFF, 0xE4, 0xDA, 0x06, 0x9D, 0x97, 0x17,
    ];
    write("link_frame", "launch_report", &control(263, 16, &missed));
    let length = u32::try_from(frame.len())
        .expect("a short frame")
        .to_le_bytes();
    // Magic, version 2.4, time zone, accuracy, longest packet, LINKTYPE_ETHERNET; then time, lengths, packet.
    let mut pcap = vec![
        0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 1, 0, 0, 0,
    ];
    pcap.extend([&[0; 8][..], &length, &length, &frame].concat());
    write("capture", "ethernet.pcap", &pcap);
    let mut pcapng = Vec::new();
    let mut writer = CaptureWriter::new(&mut pcapng).expect("memory");
    writer.write(std::time::UNIX_EPOCH, &frame).expect("memory");
    write("capture", "ethernet.pcapng", &pcapng);
}

fn rest() {
    let item = AddNodesItem {
        parent_node_id: NodeId::numeric(0, 85).into(),
        reference_type_id: NodeId::numeric(0, 35),
        requested_new_node_id: node().into(),
        browse_name: QualifiedName::new(1, "A"),
        node_class: NodeClass::Object,
        node_attributes: ExtensionObject::from_structure(&ObjectAttributes::default()),
        type_definition: NodeId::numeric(0, 58).into(),
    };
    write("database_record", "node", &item.encode_to_vec());
    let group = SecurityGroupDataType {
        name: "Plant".into(),
        ..SecurityGroupDataType::default()
    };
    write("database_record", "security-group", &group.encode_to_vec());
    write(
        "database_record",
        "reference",
        &AddReferencesItem::default().encode_to_vec(),
    );

    let cell = Cell::of(&Variant::Double(1.5))
        .share()
        .expect("shared memory");
    let location = cell.location().expect("a shared cell");
    let segment = shared::segment(location.segment).expect("its segment");
    let words = segment.words().iter().take(96);
    let memory = words.flat_map(|word| {
        word.load(std::sync::atomic::Ordering::Relaxed)
            .to_le_bytes()
    });
    let input: Vec<u8> = location.to_bytes().into_iter().chain(memory).collect();
    assert!(CellLocation::parse(&input).is_some());
    write("cell_location", "double", &input);

    let xml = r#"<UANodeSet xmlns="http://opcfoundation.org/UA/2011/03/UANodeSet.xsd"><NamespaceUris><Uri>urn:a</Uri></NamespaceUris>
<Models><Model ModelUri="urn:a"/></Models><Aliases><Alias Alias="HasSubtype">i=45</Alias></Aliases>
<UAObjectType NodeId="ns=1;i=1" BrowseName="1:T"><References><Reference ReferenceType="HasSubtype" IsForward="false">i=58</Reference>
</References></UAObjectType><UAObject NodeId="ns=1;i=2" BrowseName="1:O" ParentNodeId="i=85"><References>
<Reference ReferenceType="i=40">ns=1;i=1</Reference><Reference ReferenceType="i=35" IsForward="false">i=85</Reference></References>
</UAObject><UAVariable NodeId="ns=1;i=3" BrowseName="1:V" DataType="i=11"><References>
<Reference ReferenceType="i=47" IsForward="false">ns=1;i=2</Reference></References><Value>
<Double xmlns="http://opcfoundation.org/UA/2008/02/Types.xsd">1.5</Double></Value></UAVariable></UANodeSet>"#;
    write("nodeset_import", "small.xml", xml.as_bytes());
    write("nodeset", "small.xml", xml.as_bytes());
    write("shm_peer", "client", &[0, 1, 2, 3, 4, 5, 6, 7]);
    write("shm_peer", "server", &[1, 1, 2, 3, 4, 5, 6, 7]);
}

/// Trust lists, forwarded Roles and files of keys.
fn security() {
    let new = NewCertificate {
        application_name: "Seed".to_owned(),
        application_uri: "urn:seed".to_owned(),
        host_names: vec!["localhost".to_owned()],
        addresses: Vec::new(),
        validity: Duration::from_secs(24 * 3600),
        key_bits: 2048,
    };
    let own = new.create(KeyKind::Ec(EllipticCurve::NistP256));
    let own = own.expect("a certificate");
    let certificate = ByteString::from(own.certificate().der());
    let list = TrustListDataType {
        specified_lists: 15,
        trusted_certificates: vec![certificate.clone()],
        issuer_certificates: vec![certificate],
        ..TrustListDataType::default()
    };
    write("trust_list", "list", &list.encode_to_vec());

    let caller = takt_space::Caller::local();
    let header = takt_services::ForwardedUser::of(&caller).header(1);
    let header: AdditionalParametersType = header.decode_as().expect("a header");
    write("forwarded_header", "other", &header.encode_to_vec());

    let pem = own.key().to_pem().expect("a key");
    write("stored_keys", "pem", &chosen(1, pem.as_bytes()));
    let keys: [Variant; 8] = [
        "Plant".into(),
        "http://opcfoundation.org/UA/SecurityPolicy#PubSub-Aes128-CTR".into(),
        7_u32.into(),
        ByteString::from(&[1_u8; 52]).into(),
        vec![ByteString::from(&[2_u8; 52])].into(),
        50_000.0.into(),
        100_000.0.into(),
        DateTime::now().into(),
    ];
    let keys: Vec<u8> = keys.iter().flat_map(Encode::encode_to_vec).collect();
    write("stored_keys", "push_target", &chosen(0, &keys));
}

fn main() {
    ua();
    security();
    services();
    event_filter();
    tcp();
    pubsub();
    rest();
}
