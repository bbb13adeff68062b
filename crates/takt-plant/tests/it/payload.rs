//! Payloads: exact by the tables of the standard, and never below that of a real message.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use takt_pubsub::Now;
use takt_pubsub::configuration::from_toml;
use takt_pubsub::publisher::{FieldSource, PublishedField, WriterGroup};
use takt_pubsub::security::{KeyRing, PubSubSecurityPolicy, SecurityKeyUpdate};
use takt_ua::enumerations::PubSubState;
use takt_ua::{Array, BuiltInType, DataValue, Elements, StatusCode, Variant};

use crate::support::{READER, WRITER, made_of};

fn payload(writer: &str) -> u32 {
    made_of(writer, READER).unwrap().flows[0].payload
}

#[test]
fn payloads_are_those_of_the_tables() {
    // Flags and PublisherId 4, GroupHeader 5, PayloadHeader 3, DataSetMessage with SequenceNumber and Status 5, FieldCount 2 (OPC
    // 10000-14, 7.2.4): 19 B.
    let headers = 19;
    // A Double in a Variant has 9 B; with a status, it is in a DataValue in a Variant, with 1 + 1 + 4 B more.
    assert_eq!(payload(WRITER), headers + 15);
    let of_fields = |fields: &str| {
        WRITER.replace(
            "{ name = \"Value\", data_type = \"Double\", published_variable = \"ns=1;s=Value\" }",
            fields,
        )
    };
    let field = |data_type: &str| {
        format!(
            "{{ name = \"Value\", data_type = \"{data_type}\", published_variable = \"ns=1;s=Value\" }}"
        )
    };
    // Variant, ArrayLength, elements, number of dimensions, dimensions.
    let matrix = 1 + 4 + 12 * 4 + 4 + 2 * 4;
    assert_eq!(
        payload(&of_fields(&field("UInt32[3][4]"))),
        headers + matrix + 6
    );
    let text = "{ name = \"Value\", data_type = \"String\", max_string_length = 20, published_variable = \"ns=1;s=Value\" }";
    assert_eq!(payload(&of_fields(text)), headers + 1 + 4 + 20 + 6);
    let array = text.replace("\"String\"", "\"String[3]\"");
    assert_eq!(payload(&of_fields(&array)), headers + 1 + 4 + 3 * 24 + 6);
    // A delta frame has DataSetFlags2 and the index of each field in addition.
    let delta = WRITER.to_owned() + "key_frame_count = 10\n";
    assert_eq!(payload(&delta), headers + 15 + 1 + 2);
    // SecurityHeader 14, signature 32 (7.2.4.4.3).
    let signed = WRITER.replace(
        "name = \"Fast\"\n",
        "name = \"Fast\"\nsecurity_mode = \"Sign\"\nsecurity_group_id = \"G\"\n",
    );
    assert_eq!(payload(&signed), headers + 15 + 46);
    let byte = signed.replace("publisher_id = 5", "publisher_id = { Byte = 5 }");
    // With a Byte, ExtendedFlags1 is there for the security only.
    assert_eq!(payload(&byte), headers + 15 + 46 - 1);
    // IPv4 and UDP.
    let udp = |text: &str| {
        text.replace(
            "opc.eth://01-00-5E-00-00-01:10.6",
            "opc.udp://239.0.0.1:4840",
        )
    };
    let over_udp = made_of(&udp(WRITER), &udp(READER)).unwrap();
    assert_eq!(over_udp.flows[0].payload, headers + 15 + 28);
    // RawData: the value alone, without FieldCount and status (A.2.1.3: flags, ExtendedFlags1, PublisherId, GroupHeader with
    // GroupVersion and NetworkMessageNumber; DataSetFlags1).
    let fixed = WRITER.replace(
        "uadp = { ",
        "header_layout = \"UADP-Periodic-Fixed\"\nuadp = { group_version = 1, ",
    );
    let fixed = made_of(&fixed, READER).unwrap();
    assert_eq!(
        fixed.flows[0].parts,
        format!("key frame {} B", fixed.flows[0].payload)
    );
}

#[test]
fn writers_share_messages_and_those_of_one_interval_are_apart() {
    let second = "[[connections.writer_groups.data_set_writers]]
name = \"Again\"
data_set_writer_id = 2
data_set_name = \"Data\"
";
    let shared = WRITER.to_owned() + second;
    let made = made_of(&shared, READER).unwrap();
    assert_eq!(made.flows.len(), 1);
    // A second DataSetWriterId, the sizes of both, and a second DataSetMessage.
    assert_eq!(made.flows[0].payload, 19 + 15 + 2 + 4 + 5 + 2 + 15);
    assert!(
        made.flows[0]
            .parts
            .starts_with("2 DataSetWriters, key frame "),
        "{:?}",
        made.flows
    );
    let apart = shared.replace(
        "uadp = { ",
        "uadp = { data_set_ordering = \"AscendingWriterIdSingle\", ",
    );
    let made = made_of(&apart, READER).unwrap();
    let names: Vec<&str> = made
        .flows
        .iter()
        .map(|it| it.application.as_str())
        .collect();
    assert_eq!(names, ["a/Fast #1", "a/Fast #2"]);
    assert!(made.flows.iter().all(|it| it.payload == 34));
}

/// A field of a random configuration.
#[derive(Debug, Clone)]
struct RandomField {
    built_in: BuiltInType,
    dimensions: Vec<u32>,
    text: u32,
    promoted: bool,
}

#[derive(Debug, Clone)]
struct RandomGroup {
    fields: Vec<RandomField>,
    encoding: &'static str,
    key_frame_count: u32,
    security: &'static str,
    publisher: &'static str,
    masks: &'static str,
    message_masks: &'static str,
}

fn field() -> impl Strategy<Value = RandomField> {
    let types = [
        BuiltInType::Boolean,
        BuiltInType::Byte,
        BuiltInType::Int16,
        BuiltInType::UInt32,
        BuiltInType::Int64,
        BuiltInType::Float,
        BuiltInType::Double,
        BuiltInType::String,
        BuiltInType::ByteString,
        BuiltInType::DateTime,
        BuiltInType::Guid,
        BuiltInType::StatusCode,
    ];
    (
        prop::sample::select(types.to_vec()),
        prop::collection::vec(1_u32..4, 0..3),
        1_u32..12,
        any::<bool>(),
    )
        .prop_map(|(built_in, dimensions, text, promoted)| RandomField {
            built_in,
            dimensions,
            text,
            promoted,
        })
}

fn group() -> impl Strategy<Value = RandomGroup> {
    (
        prop::collection::vec(field(), 0..5),
        prop::sample::select(vec![
            "\"Variant\"",
            "\"DataValue\"",
            "[\"StatusCode\"]",
            "[\"SourceTimestamp\", \"ServerTimestamp\", \"SourcePicoSeconds\"]",
            "\"RawData\"",
        ]),
        1_u32..4,
        prop::sample::select(vec!["None", "Sign", "SignAndEncrypt"]),
        prop::sample::select(vec!["5", "{ Byte = 5 }", "{ UInt64 = 7 }", "\"press\""]),
        prop::sample::select(vec![
            "[\"PublisherId\", \"GroupHeader\", \"WriterGroupId\", \"SequenceNumber\", \"PayloadHeader\"]",
            "[\"PublisherId\", \"PayloadHeader\", \"Timestamp\", \"PicoSeconds\", \"DataSetClassId\"]",
            "[\"PublisherId\", \"PayloadHeader\", \"PromotedFields\"]",
            "[\"PublisherId\", \"GroupHeader\", \"WriterGroupId\", \"GroupVersion\", \"NetworkMessageNumber\"]",
        ]),
        prop::sample::select(vec![
            "[]",
            "[\"Status\", \"SequenceNumber\"]",
            "[\"Timestamp\", \"PicoSeconds\", \"Status\", \"MajorVersion\", \"MinorVersion\", \"SequenceNumber\"]",
        ]),
    )
        .prop_map(
            |(fields, encoding, key_frame_count, security, publisher, masks, message_masks)| {
                let is_raw = encoding == "\"RawData\"";
                RandomGroup {
                    fields,
                    encoding,
                    key_frame_count: if is_raw { 1 } else { key_frame_count },
                    security,
                    publisher,
                    masks,
                    message_masks,
                }
            },
        )
}

impl RandomGroup {
    fn text(&self) -> String {
        let fields = self.fields.iter().enumerate().map(|(index, field)| {
            let dimensions: Vec<String> =
                field.dimensions.iter().map(|it| format!("[{it}]")).collect();
            let is_text = matches!(field.built_in, BuiltInType::String | BuiltInType::ByteString);
            format!(
                "{{ name = \"F{index}\", data_type = \"{}{}\", {}{}published_variable = \"ns=1;s=F{index}\" }}",
                field.built_in.name(),
                dimensions.concat(),
                if is_text {
                    format!("max_string_length = {}, ", field.text)
                } else {
                    String::new()
                },
                if field.promoted {
                    "field_flags = [\"PromotedField\"], "
                } else {
                    ""
                },
            )
        });
        let fields: Vec<String> = fields.collect();
        let security = match self.security {
            "None" => String::new(),
            mode => format!("security_mode = \"{mode}\"\nsecurity_group_id = \"G\"\n"),
        };
        format!(
            "[[published_data_sets]]
name = \"Data\"
fields = [{}]
[[connections]]
name = \"Out\"
publisher_id = {}
address = \"opc.eth://01-00-5E-00-00-01:10.6\"
network_interface = \"eth0\"
[[connections.writer_groups]]
name = \"Fast\"
writer_group_id = 1
publishing_interval = \"1ms\"
keep_alive_time = \"10ms\"
{security}uadp = {{ network_message_content_mask = {}, group_version = 1 }}
[[connections.writer_groups.data_set_writers]]
name = \"Data\"
data_set_writer_id = 1
data_set_name = \"Data\"
key_frame_count = {}
field_encoding = {}
uadp = {{ data_set_message_content_mask = {}, network_message_number = 1 }}
",
            fields.join(", "),
            self.publisher,
            self.masks,
            self.key_frame_count,
            self.encoding,
            self.message_masks
        )
    }
}

/// Returns a value of a field: with texts of any allowed length, and arrays that are full.
fn value(field: &takt_ua::structures::FieldMetaData, random: u32) -> Variant {
    let built_in = BuiltInType::from_u8(field.built_in_type).unwrap();
    let length = random % (field.max_string_length + 1);
    let scalar = match built_in {
        BuiltInType::String => Variant::from("x".repeat(length as usize)),
        BuiltInType::ByteString => Variant::ByteString(vec![7; length as usize].into()),
        BuiltInType::UInt32 => Variant::UInt32(random),
        other => Variant::default_of(other),
    };
    if field.value_rank < 1 {
        return scalar;
    }
    let mut elements = Elements::empty(built_in);
    for _ in 0..field.array_dimensions.iter().product() {
        elements.push(scalar.clone()).unwrap();
    }
    match field.array_dimensions.len() {
        1 => Array::new(elements).into(),
        _ => Array::matrix(elements, &field.array_dimensions)
            .unwrap()
            .into(),
    }
}

/// Returns the lengths of real messages, with statuses and values that change at random.
fn real_lengths(text: &str, seeds: &[u32]) -> Vec<usize> {
    let configuration = from_toml(text).unwrap().configuration;
    let connection = &configuration.connections[0];
    let seed = Arc::new(AtomicU32::new(0));
    let mut count = 0_u32;
    let mut source = |field: PublishedField<'_>| {
        let (meta_data, seed) = (field.meta_data.clone(), Arc::clone(&seed));
        count += 1;
        let own = count;
        Some(FieldSource::Callback(Box::new(move || {
            let random = seed
                .load(Ordering::Relaxed)
                .wrapping_mul(2_654_435_761)
                .rotate_left(own);
            let status = match random % 4 {
                0 => StatusCode::Bad,
                1 => StatusCode::UncertainLastUsableValue,
                _ => StatusCode::Good,
            };
            DataValue::good(value(&meta_data, random)).with_status(status)
        })))
    };
    let group = &connection.writer_groups[0];
    let data_sets = &configuration.published_data_sets;
    let mut engine = WriterGroup::new(connection, group, data_sets, &mut source).unwrap();
    let policy = PubSubSecurityPolicy::PubSubAes128Ctr;
    let mut keys = KeyRing::new();
    let update = SecurityKeyUpdate {
        security_policy_uri: policy.uri().to_owned(),
        first_token_id: 1,
        keys: vec![vec![0; policy.key_data_length()].into()],
        time_to_next_key: Duration::from_secs(3600),
        key_lifetime: Duration::from_secs(3600),
    };
    keys.update(&update, Instant::now()).unwrap();
    engine.set_keys(&keys);
    let mut messages: Vec<Vec<u8>> = Vec::new();
    for number in seeds {
        seed.store(*number, Ordering::Relaxed);
        engine
            .publish(Now::read(), PubSubState::Operational, &mut messages)
            .unwrap();
    }
    messages.iter().map(Vec::len).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_message_is_longer_than_the_payload(
        group in group(),
        seeds in prop::collection::vec(any::<u32>(), 1..12),
    ) {
        let text = group.text();
        let Ok(made) = made_of(&text, READER) else {
            // The check of configurations refuses some combinations.
            return Ok(());
        };
        let payload = made.flows[0].payload as usize;
        let lengths = real_lengths(&text, &seeds);
        for length in &lengths {
            prop_assert!(*length <= payload, "{length} > {payload}\n{text}");
        }
    }
}
