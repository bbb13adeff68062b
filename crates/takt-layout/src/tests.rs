//! Tests of the documented layout, of reading written messages, and of hostile messages.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "this is a test"
)]

use proptest::prelude::*;
use takt_rt::shared_bytes::SharedBytes;
use takt_ua::binary::{Encoder, Limits};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::structures::*;
use takt_ua::{DataValue, DateTime, Guid, NodeId, QualifiedName, StatusCode, Variant};

use crate::*;

fn laid_out(request: &impl LaidOut) -> Vec<u8> {
    let mut message = Vec::new();
    let mut encoder = Encoder::growing(&mut message, 1 << 20);
    request.lay_out(&mut encoder).unwrap();
    message
}

fn header() -> RequestHeader {
    RequestHeader {
        authentication_token: NodeId::numeric(0, 0x1234),
        timestamp: DateTime(0x0102_0304_0506_0708),
        request_handle: 9,
        timeout_hint: 2000,
        ..RequestHeader::default()
    }
}

#[test]
fn a_read_is_laid_out_as_documented() {
    let message = laid_out(&ReadRequest {
        request_header: header(),
        max_age: 1.5,
        timestamps_to_return: TimestampsToReturn::Both,
        nodes_to_read: vec![ReadValueId {
            node_id: NodeId::numeric(0, 7),
            attribute_id: 13,
            index_range: "1:2".into(),
            ..ReadValueId::default()
        }],
    });
    let mut expected = vec![0x4C, 1, 1, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0xD0, 7, 0, 0];
    expected.extend([8, 7, 6, 5, 4, 3, 2, 1]);
    // The token of four bytes is behind the only record.
    expected.extend([80, 0, 0, 0, 4, 0, 0, 0]);
    expected.extend(1.5_f64.to_le_bytes());
    expected.extend([2, 0, 0, 0, 0, 0, 0, 0]);
    // nodeId, indexRange, dataEncoding, attributeId.
    expected.extend([84, 0, 0, 0, 2, 0, 0, 0, 86, 0, 0, 0, 3, 0, 0, 0]);
    expected.extend([0; 8]);
    expected.extend([13, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([1, 0, 0x34, 0x12, 0, 7, b'1', b':', b'2']);
    assert_eq!(message, expected);
}

#[test]
fn a_read_is_answered_as_documented() {
    let mut message = Vec::new();
    let mut encoder = Encoder::growing(&mut message, 1 << 20);
    let mut writer =
        ResponseWriter::begin(&mut encoder, Service::Read, 3, 9, DateTime(0x77)).unwrap();
    let value = |writer: &mut ResponseWriter<'_, '_>, value: Variant| {
        let (span, ()) = writer
            .values()
            .value(|encoder| takt_ua::binary::Encode::encode(&value, encoder))
            .unwrap();
        span
    };
    let times = Times {
        source_timestamp: Some(DateTime(5)),
        server_picoseconds: Some(6),
        ..Times::default()
    };
    let number = value(&mut writer, Variant::Double(1.0));
    writer.data_value(number, StatusCode::UncertainInitialValue, &times);
    let array = value(&mut writer, Variant::from(vec![1_u16, 2]));
    writer.data_value(array, StatusCode::Good, &Times::default());
    writer.data_value(Span::NONE, StatusCode::BadNodeIdUnknown, &Times::default());
    assert_eq!(
        (number.offset, number.length),
        (175, 9),
        "176 is a multiple of 8"
    );
    assert_eq!(
        (array.offset, array.length),
        (187, 9),
        "192 is a multiple of 8"
    );
    assert_eq!(message[..8], [0x4C, 1, 2, 0, 3, 0, 0, 0]);
    assert_eq!(message[8..12], [9, 0, 0, 0]);
    assert_eq!(message[16..24], [0x77, 0, 0, 0, 0, 0, 0, 0]);
    let mut record = vec![175, 0, 0, 0, 9, 0, 0, 0];
    record.extend(StatusCode::UncertainInitialValue.0.to_le_bytes());
    record.extend([1 | 8, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
    record.extend([0; 8]);
    record.extend([0, 0, 6, 0, 0, 0, 0, 0]);
    assert_eq!(message[48..88], record);
    assert_eq!(message[175..184], [11, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F]);
    assert_eq!(message[187..196], [5 | 0x80, 2, 0, 0, 0, 1, 0, 2, 0]);
}

/// Returns a Variant of some kind.
fn variants() -> impl Strategy<Value = Variant> {
    prop_oneof![
        any::<bool>().prop_map(Variant::from),
        any::<i8>().prop_map(Variant::from),
        any::<u32>().prop_map(Variant::from),
        any::<i64>().prop_map(Variant::from),
        any::<(u32, [u8; 8])>().prop_map(|(data1, data4)| Variant::Guid(Guid {
            data1,
            data4,
            ..Guid::NULL
        })),
        ".{0,40}".prop_map(Variant::from),
        prop::collection::vec(any::<i16>(), 0..20).prop_map(Variant::from),
        prop::collection::vec(any::<u64>(), 0..if cfg!(miri) { 20 } else { 2000 })
            .prop_map(Variant::from),
        prop::collection::vec(".{0,5}".prop_map(String::from), 0..5).prop_map(Variant::from),
    ]
}

fn node_ids() -> impl Strategy<Value = NodeId> {
    prop_oneof![
        any::<(u16, u32)>().prop_map(|(namespace, number)| NodeId::numeric(namespace, number)),
        (any::<u16>(), ".{1,20}").prop_map(|(namespace, text)| NodeId::string(namespace, &text)),
    ]
}

fn data_values() -> impl Strategy<Value = DataValue> {
    (
        prop::option::of(variants()),
        prop::option::of(1_u32..),
        prop::option::of(any::<i64>()),
        prop::option::of(any::<u16>()),
        prop::option::of(any::<i64>()),
        prop::option::of(any::<u16>()),
    )
        .prop_map(
            |(value, status, source, source_pico, server, server_pico)| DataValue {
                value,
                status: status.map(StatusCode),
                source_timestamp: source.map(DateTime),
                source_picoseconds: source_pico,
                server_timestamp: server.map(DateTime),
                server_picoseconds: server_pico,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 64 }))]

    #[test]
    fn a_read_is_what_was_written(
        items in prop::collection::vec((node_ids(), any::<u32>(), prop::option::of("[0-9:,]{1,9}"), prop::option::of("[a-z]{1,9}")), 0..10),
        max_age in 0.0..1e9_f64,
    ) {
        let request = ReadRequest {
            request_header: header(),
            max_age,
            timestamps_to_return: TimestampsToReturn::Source,
            nodes_to_read: items
                .into_iter()
                .map(|(node_id, attribute_id, range, encoding)| ReadValueId {
                    node_id,
                    attribute_id,
                    index_range: range.as_deref().into(),
                    data_encoding: encoding.map_or(QualifiedName::NULL, |name| QualifiedName::new(3, &name)),
                })
                .collect(),
        };
        let message = laid_out(&request);
        let parsed = RequestReader::parse(&message, Limits::DEFAULT).unwrap();
        prop_assert_eq!(parsed.service(), Service::Read);
        prop_assert_eq!(parsed.count(), request.nodes_to_read.len());
        let token = parsed.head().authentication_token;
        prop_assert_eq!(token, request.request_header.authentication_token.as_ref());
        prop_assert_eq!(parsed.head().max_age, max_age);
        prop_assert_eq!(parsed.head().timestamps_to_return, TimestampsToReturn::Source);
        prop_assert_eq!((parsed.head().request_handle, parsed.head().timeout_hint), (9, 2000));
        let mut items = parsed.items();
        for item in &request.nodes_to_read {
            let read = items.read().unwrap();
            prop_assert_eq!(read.node_id, item.node_id.as_ref());
            prop_assert_eq!(read.attribute_id, item.attribute_id);
            prop_assert_eq!(read.index_range, item.index_range.as_option());
            prop_assert_eq!(read.data_encoding, item.data_encoding.as_ref());
        }
        prop_assert!(items.read().is_err());
    }

    #[test]
    fn a_write_is_what_was_written(values in prop::collection::vec((node_ids(), data_values()), 1..6)) {
        let request = WriteRequest {
            request_header: header(),
            nodes_to_write: values
                .into_iter()
                .map(|(node_id, value)| WriteValue { node_id, attribute_id: 13, value, ..WriteValue::default() })
                .collect(),
        };
        let message = laid_out(&request);
        let mut items = RequestReader::parse(&message, Limits::DEFAULT).unwrap().items();
        for item in &request.nodes_to_write {
            let read = items.write().unwrap();
            prop_assert_eq!(read.node_id, item.node_id.as_ref());
            let value = read.value.map(|(value, _)| value.to_owned());
            prop_assert_eq!(value, item.value.value.clone());
            if let Some((_, encoded)) = read.value {
                let start = encoded.as_ptr() as usize - message.as_ptr() as usize;
                let elements = match item.value.value.as_ref().unwrap() {
                    Variant::Array(_) | Variant::String(_) => start + 5,
                    _ => start + 1,
                };
                prop_assert_eq!(elements % 8, 0, "{:?}", item.value.value);
            }
            prop_assert_eq!(read.status, item.value.status_code());
            prop_assert_eq!(read.times.source_timestamp, item.value.source_timestamp);
            prop_assert_eq!(read.times.source_picoseconds, item.value.source_picoseconds);
            prop_assert_eq!(read.times.server_timestamp, item.value.server_timestamp);
            prop_assert_eq!(read.times.server_picoseconds, item.value.server_picoseconds);
        }
    }

    #[test]
    fn a_call_is_what_was_written(calls in prop::collection::vec((node_ids(), node_ids(), prop::collection::vec(variants(), 0..6)), 1..4)) {
        let request = CallRequest {
            request_header: header(),
            methods_to_call: calls
                .into_iter()
                .map(|(object_id, method_id, input_arguments)| CallMethodRequest { object_id, method_id, input_arguments })
                .collect(),
        };
        let message = laid_out(&request);
        let mut items = RequestReader::parse(&message, Limits::DEFAULT).unwrap().items();
        for call in &request.methods_to_call {
            let read = items.call().unwrap();
            prop_assert_eq!(read.object_id, call.object_id.as_ref());
            prop_assert_eq!(read.method_id, call.method_id.as_ref());
            let inputs: Vec<_> = (0..read.input_arguments.len())
                .map(|index| read.input_arguments.get(index).unwrap().to_owned())
                .collect();
            prop_assert_eq!(&inputs, &call.input_arguments);
            prop_assert!(read.input_arguments.get(inputs.len()).is_none());
        }
    }

    #[test]
    fn responses_are_what_was_written(values in prop::collection::vec(data_values(), 0..8), outputs in prop::collection::vec(variants(), 0..if cfg!(miri) { 3 } else { 30 })) {
        let mut message = Vec::new();
        let mut encoder = Encoder::growing(&mut message, 1 << 24);
        let mut writer = ResponseWriter::begin(&mut encoder, Service::Read, values.len(), 9, DateTime(1)).unwrap();
        let write = |writer: &mut ResponseWriter<'_, '_>, value: &Variant| {
            let written: Result<_, takt_ua::binary::EncodeError> =
                writer.values().value(|encoder| takt_ua::binary::Encode::encode(value, encoder));
            written.unwrap().0
        };
        for value in &values {
            let span = value.value.as_ref().map_or(Span::NONE, |value| write(&mut writer, value));
            let times = Times {
                source_timestamp: value.source_timestamp,
                source_picoseconds: value.source_picoseconds,
                server_timestamp: value.server_timestamp,
                server_picoseconds: value.server_picoseconds,
            };
            writer.data_value(span, value.status_code(), &times);
        }
        let response = ReadRequest::parse_response(&message).unwrap().unwrap();
        prop_assert_eq!(response.response_header.request_handle, 9);
        prop_assert_eq!(response.results, values);
        prop_assert_eq!(WriteRequest::parse_response(&message).unwrap_err(), LayoutError::Kind(2));

        let mut message = Vec::new();
        let mut encoder = Encoder::growing(&mut message, 1 << 24);
        let mut writer = ResponseWriter::begin(&mut encoder, Service::Call, 2, 9, DateTime(1)).unwrap();
        let spans: Vec<_> = outputs.iter().map(|output| write(&mut writer, output)).collect();
        writer.call_result(StatusCode::Good, &[], spans.into_iter()).unwrap();
        let blame = [StatusCode::Good, StatusCode::BadOutOfRange, StatusCode::Good];
        writer.call_result(StatusCode::BadInvalidArgument, &blame, std::iter::empty()).unwrap();
        let response = CallRequest::parse_response(&message).unwrap().unwrap();
        prop_assert_eq!(&response.results[0].output_arguments, &outputs);
        prop_assert_eq!(response.results[1].status_code, StatusCode::BadInvalidArgument);
        prop_assert_eq!(&response.results[1].input_argument_results[..], &blame[..]);
    }

    /// Arbitrary bytes give an error, or values from within the message.
    #[test]
    fn nonsense_is_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..400), kind in 0_u16..8, count in 0_u32..5) {
        if bytes.len() > 8 {
            bytes[..2].copy_from_slice(&[MARK, VERSION]);
            bytes[2..4].copy_from_slice(&kind.to_le_bytes());
            bytes[4..8].copy_from_slice(&count.to_le_bytes());
        }
        look_at_everything(&bytes);
    }

    /// One byte of a good message is changed.
    #[test]
    fn damage_is_refused_or_harmless(at in 0_usize..200, byte: u8) {
        let mut message = laid_out(&CallRequest {
            request_header: header(),
            methods_to_call: vec![CallMethodRequest {
                object_id: NodeId::string(1, "object"),
                method_id: NodeId::numeric(1, 5),
                input_arguments: vec![Variant::from(1_u32), Variant::from(vec![1.0_f64, 2.0]), Variant::from("text")],
            }],
        });
        let at = at % message.len();
        message[at] = byte;
        look_at_everything(&message);
    }
}

/// Reads all parts of a message, as a request and as a response.
fn look_at_everything(message: &[u8]) {
    if let Ok(request) = RequestReader::parse(message, Limits::DEFAULT) {
        let mut items = request.items();
        let mut bytes = 0;
        for _ in 0..request.count() {
            match request.service() {
                Service::Read => drop(items.read()),
                Service::Write => {
                    let item = items.write();
                    bytes +=
                        item.map_or(0, |item| item.value.map_or(0, |(_, encoded)| encoded.len()));
                }
                Service::Call => {
                    if let Ok(item) = items.call() {
                        for index in 0..item.input_arguments.len() {
                            assert!(item.input_arguments.get(index).is_some(), "it was checked");
                        }
                    }
                }
            }
        }
        assert!(bytes <= message.len(), "no byte is pointed to twice");
    }
    let shared = SharedBytes::of_slice(message);
    for service in [Service::Read, Service::Write, Service::Call] {
        let Ok(Some(response)) = ResponseReader::parse(shared, service) else {
            continue;
        };
        for index in 0..response.count() {
            if let Ok(record) = response.data_value(index) {
                assert!(record.value.end <= message.len());
            }
            let _status = response.status(index);
            if let Ok(result) = response.call_result(index) {
                assert!(result.input_argument_results().count() <= message.len());
                for output in 0..result.output_count() {
                    assert!(
                        result
                            .output(output)
                            .is_ok_and(|output| output.end <= message.len())
                            || result.output(output).is_err()
                    );
                }
            }
        }
        assert!(response.data_value(response.count()).is_err());
    }
}

#[test]
fn errors_name_the_cause() {
    let read = ReadRequest {
        request_header: header(),
        nodes_to_read: vec![ReadValueId {
            node_id: NodeId::numeric(0, 7),
            index_range: "1:2".into(),
            ..ReadValueId::default()
        }],
        ..ReadRequest::default()
    };
    let good = laid_out(&read);
    let with = |at: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        let request = RequestReader::parse(&bad, Limits::DEFAULT)?;
        request.items().read().map(drop)
    };
    assert_eq!(with(0, &[MARK]), Ok(()));
    assert_eq!(with(0, &[0]), Err(LayoutError::Head));
    assert_eq!(with(1, &[2]), Err(LayoutError::Version(2)));
    assert_eq!(with(2, &[2]), Err(LayoutError::Kind(2)));
    assert_eq!(with(4, &[200]), Err(LayoutError::Records { count: 200 }));
    let span = |offset, length| Err(LayoutError::Span { offset, length });
    // The nodeId within the head, within the token, and beyond the end.
    assert_eq!(with(48, &[8]), span(8, 2));
    assert_eq!(with(48, &[82]), span(82, 2));
    assert_eq!(with(48, &[88]), span(88, 2));
    // The indexRange within the nodeId.
    assert_eq!(with(56, &[85]), span(85, 3));
    assert_eq!(
        with(52, &[3]),
        Err(LayoutError::Trailing {
            offset: 84,
            length: 3
        })
    );
    assert!(matches!(
        with(84, &[0x3F]),
        Err(LayoutError::Decode { offset: 84, .. })
    ));
    assert_eq!(
        RequestReader::parse(&good[..47], Limits::DEFAULT).map(drop),
        Err(LayoutError::Head)
    );
    // Fields without a place in the layout.
    let mut diagnosed = read;
    assert!(diagnosed.fits());
    diagnosed.request_header.return_diagnostics = 1;
    assert!(!diagnosed.fits());
}
