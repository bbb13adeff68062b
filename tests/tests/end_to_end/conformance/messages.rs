//! Invalid messages: each is answered with a ServiceFault, and the connection stays open.

use takt_app::{Attribute, Client};
use takt_ua::binary::{Decode, Decoder, Encode, EncodeError, Encoder};
use takt_ua::structures::*;
use takt_ua::{NodeId, StatusCode, Structure, Variant, ids};

use crate::conformance::plant::{self, MAX_ARRAY, MAX_STRING, fault, node, standard};

/// Returns the ServiceResult of a response, ServiceFault or not (OPC 10000-4, 7.33).
pub(crate) fn service_result(body: &[u8]) -> StatusCode {
    let mut decoder = Decoder::new(body);
    NodeId::decode(&mut decoder).unwrap();
    let header = ResponseHeader::decode(&mut decoder).unwrap();
    header.service_result
}

/// Sends the TypeId, a good RequestHeader, and what `body` writes.
fn send(
    client: &mut Client,
    type_id: u32,
    body: impl Fn(&mut Encoder<'_>) -> Result<(), EncodeError>,
) -> StatusCode {
    let status = client.exchange(
        |token, encoder| {
            standard(type_id).encode(encoder)?;
            let header = RequestHeader {
                authentication_token: token.clone(),
                request_handle: 4_711,
                ..RequestHeader::default()
            };
            header.encode(encoder)?;
            body(encoder)
        },
        |body| {
            let mut decoder = Decoder::new(body);
            NodeId::decode(&mut decoder).unwrap();
            let header = ResponseHeader::decode(&mut decoder).unwrap();
            // If the RequestHeader could be read, the response contains its RequestHandle.
            assert_eq!(header.request_handle, 4_711);
            header.service_result
        },
    );
    status.unwrap()
}

pub(crate) fn an_unknown_service_is_a_fault(client: &mut Client) {
    let history = HistoryReadRequest::BINARY_ENCODING_ID;
    for type_id in [
        history,
        ids::READ_RESPONSE_ENCODING_DEFAULT_BINARY,
        65_000,
        1,
    ] {
        let status = send(client, type_id, |_| Ok(()));
        assert_eq!(status, StatusCode::BadServiceUnsupported, "i={type_id}");
    }
    // A type of some other namespace that has the number of a ReadRequest.
    let foreign = client.exchange(
        |token, encoder| {
            NodeId::numeric(2, ReadRequest::BINARY_ENCODING_ID).encode(encoder)?;
            ReadRequest {
                request_header: RequestHeader {
                    authentication_token: token.clone(),
                    ..RequestHeader::default()
                },
                ..ReadRequest::default()
            }
            .encode(encoder)
        },
        service_result,
    );
    assert_eq!(foreign.unwrap(), StatusCode::BadServiceUnsupported);
}

pub(crate) fn a_malformed_body_is_a_fault(client: &mut Client) {
    for type_id in [
        ReadRequest::BINARY_ENCODING_ID,
        WriteRequest::BINARY_ENCODING_ID,
        CallRequest::BINARY_ENCODING_ID,
        BrowseRequest::BINARY_ENCODING_ID,
        AddNodesRequest::BINARY_ENCODING_ID,
        TranslateBrowsePathsToNodeIdsRequest::BINARY_ENCODING_ID,
    ] {
        // It ends too early; then the count of its operations is more than what follows.
        let status = send(client, type_id, |encoder| encoder.bytes(&[0]));
        assert_eq!(status, StatusCode::BadDecodingError, "i={type_id}");
        let status = send(client, type_id, |encoder| {
            encoder.bytes(&[0; 12])?;
            encoder.i32(100)?;
            encoder.bytes(&[0xFF; 60])
        });
        assert!(status.is_bad(), "i={type_id}");
    }
    // A NodeId of no known form in an item, and a text that is not UTF-8.
    let status = send(client, ReadRequest::BINARY_ENCODING_ID, |encoder| {
        encoder.f64(0.0)?;
        encoder.i32(0)?;
        encoder.i32(1)?;
        encoder.bytes(&[0x3F; 40])
    });
    assert_eq!(status, StatusCode::BadDecodingError);
    let status = send(client, ReadRequest::BINARY_ENCODING_ID, |encoder| {
        encoder.f64(0.0)?;
        encoder.i32(0)?;
        encoder.i32(1)?;
        encoder.bytes(&[3, 2, 0])?;
        encoder.byte_string(Some(&[0xC3, 0x28]))?;
        encoder.bytes(&[0; 40])
    });
    assert_eq!(status, StatusCode::BadDecodingError);

    // Neither the TypeId nor the RequestHeader can be read.
    for message in [&[0xFF][..], &[1, 0, 0x77, 0x02], &[1, 0, 0x77, 0x02, 9, 9]] {
        let status = client.exchange(|_, encoder| encoder.bytes(message), service_result);
        assert_eq!(status.unwrap(), StatusCode::BadDecodingError, "{message:?}");
    }
}

fn write_value(value: impl Into<Variant>) -> WriteRequest {
    WriteRequest {
        nodes_to_write: vec![WriteValue {
            node_id: node("Any"),
            attribute_id: Attribute::Value as u32,
            value: takt_ua::DataValue {
                value: Some(value.into()),
                ..takt_ua::DataValue::default()
            },
            ..WriteValue::default()
        }],
        ..WriteRequest::default()
    }
}

pub(crate) fn an_oversized_string_is_a_fault(client: &mut Client) {
    let limit = StatusCode::BadEncodingLimitsExceeded;
    let fits = "x".repeat(MAX_STRING);
    let too_long = "x".repeat(MAX_STRING + 1);
    let response = client.call(write_value(fits.as_str())).unwrap();
    assert_eq!(response.results, [StatusCode::Good]);
    assert_eq!(fault(client.call(write_value(too_long.as_str()))), limit);
    let bytes = Variant::ByteString(takt_ua::ByteString::from(too_long.as_bytes()));
    assert_eq!(fault(client.call(write_value(bytes))), limit);
    assert_eq!(plant::value(client, "Any"), fits.as_str().into());

    let node_id = NodeId::string(plant::NAMESPACE, &too_long);
    let read = client.call(ReadRequest {
        nodes_to_read: vec![plant::attribute(node_id.clone(), Attribute::Value)],
        ..ReadRequest::default()
    });
    assert_eq!(fault(read), limit);
    let browse = client.call(BrowseRequest {
        nodes_to_browse: vec![BrowseDescription {
            node_id,
            ..BrowseDescription::default()
        }],
        ..BrowseRequest::default()
    });
    assert_eq!(fault(browse), limit);
}

pub(crate) fn an_oversized_array_is_a_fault(client: &mut Client) {
    let limit = StatusCode::BadEncodingLimitsExceeded;
    let too_long = vec![0_u8; MAX_ARRAY + 1];
    assert_eq!(fault(client.call(write_value(too_long))), limit);
    // A count without elements behind it is refused as well.
    let status = send(client, WriteRequest::BINARY_ENCODING_ID, |encoder| {
        encoder.i32(i32::MAX)
    });
    assert!(status.is_bad(), "{status}");
    let status = send(client, ReadRequest::BINARY_ENCODING_ID, |encoder| {
        encoder.f64(0.0)?;
        encoder.i32(0)?;
        encoder.i32(i32::MAX)
    });
    assert!(status.is_bad(), "{status}");
}

pub(crate) fn deep_nesting_is_a_fault(client: &mut Client) {
    // DataValues in DataValues: each level is two bytes, a DataValue with a value that is a Variant with a DataValue.
    let status = send(client, WriteRequest::BINARY_ENCODING_ID, |encoder| {
        encoder.i32(1)?;
        node("Any").encode(encoder)?;
        encoder.u32(Attribute::Value as u32)?;
        encoder.string(None)?;
        for _ in 0..100_000 {
            encoder.bytes(&[1, 23])?;
        }
        encoder.bytes(&[0])
    });
    assert_eq!(status, StatusCode::BadEncodingLimitsExceeded);
}

pub(crate) fn a_response_that_is_too_large_is_a_fault(client: &mut Client) {
    let megabyte = "x".repeat(1 << 20);
    client
        .write(&node("String"), megabyte.as_str().into())
        .unwrap();
    let read = client.call(ReadRequest {
        nodes_to_read: vec![plant::attribute(node("String"), Attribute::Value); 200],
        ..ReadRequest::default()
    });
    let status = fault(read);
    assert_eq!(status, StatusCode::BadResponseTooLarge);
}
