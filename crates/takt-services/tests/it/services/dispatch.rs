//! Errors of whole requests: unknown, malformed, too large, or with too many operations.

use crate::common::{Client, VALUE, builder, decode, message, read_id, server};
use takt_services::{OperationLimits, ServerBudgets};
use takt_space::Value;
use takt_ua::binary::{Encode, Encoder, Limits};
use takt_ua::enumerations::TimestampsToReturn;
use takt_ua::request_handler::RequestOutcome;
use takt_ua::structures::*;
use takt_ua::{DataValue, NodeId, StatusCode, Structure, Variant, ids};

/// Returns the serviceResult and the request handle of a ServiceFault.
fn fault(response: &[u8]) -> (StatusCode, u32) {
    let status = decode::<ReadResponse>(response).unwrap_err();
    let handle = u32::from_le_bytes(response[12..16].try_into().unwrap());
    (status, handle)
}

#[test]
fn an_unknown_service_gets_a_service_fault() {
    let mut client = Client::new(&server());
    let request_header = client.header();
    let handle = request_header.request_handle;
    let request = HistoryReadRequest {
        request_header,
        ..HistoryReadRequest::default()
    };
    let response = client.raw(&message(&request));
    assert_eq!(
        fault(&response),
        (StatusCode::BadServiceUnsupported, handle)
    );
    // TypeIds that belong to no request, in several forms.
    for type_id in [NodeId::from(1_u32), NodeId::string(3, "Read"), NodeId::NULL] {
        let mut request = type_id.encode_to_vec();
        request.extend(client.header().encode_to_vec());
        let response = client.raw(&request);
        assert_eq!(
            fault(&response),
            (StatusCode::BadServiceUnsupported, client.handle)
        );
    }
}

#[test]
fn damaged_requests_get_a_service_fault() {
    let mut client = Client::new(&server());
    let read = ReadRequest {
        request_header: client.header(),
        nodes_to_read: vec![read_id(ids::SERVER_SERVICE_LEVEL, VALUE)],
        ..ReadRequest::default()
    };
    let request = message(&read);
    for length in 0..request.len() {
        let response = client.raw(&request[..length]);
        assert_eq!(
            fault(&response).0,
            StatusCode::BadDecodingError,
            "{length} bytes"
        );
    }
    assert!(decode::<ReadResponse>(&client.raw(&request)).is_ok());
}

#[test]
fn a_damaged_write_writes_nothing() {
    let mut client = Client::new(&server());
    let space = client.server.address_space();
    let node = space
        .add_variable("A")
        .value(Value::stored(1_u32))
        .writable()
        .add()
        .unwrap();
    let item = crate::common::write_of(node.clone(), DataValue::good(2_u32));
    let write = WriteRequest {
        request_header: client.header(),
        nodes_to_write: vec![item.clone(), item],
    };
    let request = message(&write);
    let response = client.raw(&request[..request.len() - 1]);
    assert_eq!(fault(&response).0, StatusCode::BadDecodingError);
    assert_eq!(client.read_value(node).value, Some(Variant::from(1_u32)));
}

#[test]
fn requests_above_decoding_limits_get_bad_encoding_limits_exceeded() {
    let encoding = Limits {
        max_string_length: 100,
        max_array_length: 10,
        max_depth: 5,
        ..Limits::DEFAULT
    };
    let budgets = ServerBudgets {
        encoding,
        ..ServerBudgets::default()
    };
    let mut client = Client::new(&builder().budgets(budgets).build().unwrap());
    let long = client.read(vec![read_id((1, "x".repeat(101).as_str()), VALUE)]);
    assert_eq!(long.unwrap_err(), StatusCode::BadEncodingLimitsExceeded);
    let many = client.read(vec![read_id(ids::SERVER, VALUE); 11]);
    assert_eq!(many.unwrap_err(), StatusCode::BadEncodingLimitsExceeded);
}

#[test]
fn operation_limits_are_enforced_and_shown() {
    let operations = OperationLimits {
        max_nodes_per_read: 3,
        max_nodes_per_write: 3,
        max_nodes_per_method_call: 3,
        max_nodes_per_browse: 3,
        max_nodes_per_register_nodes: 3,
        max_nodes_per_translate_browse_paths_to_node_ids: 3,
        max_nodes_per_node_management: 3,
        max_monitored_items_per_call: 3,
        max_nodes_per_history_read_data: 3,
        max_nodes_per_history_read_events: 3,
    };
    let budgets = ServerBudgets {
        operations,
        ..ServerBudgets::default()
    };
    let server = builder()
        .budgets(budgets)
        .node_management(std::sync::Arc::new(takt_services::EverybodyManages))
        .build()
        .unwrap();
    let mut client = Client::new(&server);
    for id in [
        ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_READ,
        ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_NODE_MANAGEMENT,
        ids::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_MONITORED_ITEMS_PER_CALL,
    ] {
        assert_eq!(client.read_value(id).value, Some(Variant::from(3_u32)));
    }

    for (count, expected) in [
        (0, Err(StatusCode::BadNothingToDo)),
        (3, Ok(())),
        (4, Err(StatusCode::BadTooManyOperations)),
    ] {
        let header = client.header();
        let check = |client: &mut Client, name: &str, request: Vec<u8>| {
            let response = client.raw(&request);
            let type_id = u16::from_le_bytes([response[2], response[3]]);
            let is_fault = u32::from(type_id) == ids::SERVICE_FAULT_ENCODING_DEFAULT_BINARY;
            let result = if is_fault {
                Err(fault(&response).0)
            } else {
                Ok(())
            };
            assert_eq!(result, expected, "{name} with {count} operations");
        };
        macro_rules! check {
            ($request:ident, $field:ident, $item:expr) => {
                #[allow(clippy::field_reassign_with_default, reason = "some have more fields")]
                let mut request = $request::default();
                request.request_header = header.clone();
                request.$field = vec![$item; count];
                check(&mut client, $request::NAME, message(&request));
            };
        }
        check!(ReadRequest, nodes_to_read, ReadValueId::default());
        check!(WriteRequest, nodes_to_write, WriteValue::default());
        check!(CallRequest, methods_to_call, CallMethodRequest::default());
        check!(BrowseRequest, nodes_to_browse, BrowseDescription::default());
        check!(
            BrowseNextRequest,
            continuation_points,
            takt_ua::ByteString::default()
        );
        check!(
            TranslateBrowsePathsToNodeIdsRequest,
            browse_paths,
            BrowsePath::default()
        );
        check!(RegisterNodesRequest, nodes_to_register, NodeId::NULL);
        check!(UnregisterNodesRequest, nodes_to_unregister, NodeId::NULL);
        check!(AddNodesRequest, nodes_to_add, AddNodesItem::default());
        check!(
            AddReferencesRequest,
            references_to_add,
            AddReferencesItem::default()
        );
        check!(
            DeleteNodesRequest,
            nodes_to_delete,
            DeleteNodesItem::default()
        );
        check!(
            DeleteReferencesRequest,
            references_to_delete,
            DeleteReferencesItem::default()
        );
    }
}

#[test]
fn a_response_that_does_not_fit_becomes_a_service_fault() {
    let mut client = Client::new(&server());
    let space = client.server.address_space();
    let node = space
        .add_variable("A")
        .value(Value::stored("x".repeat(1000).as_str()))
        .add()
        .unwrap();
    let read = ReadRequest {
        request_header: client.header(),
        timestamps_to_return: TimestampsToReturn::Both,
        nodes_to_read: vec![read_id(node, VALUE)],
        ..ReadRequest::default()
    };
    let request = message(&read);
    let server = std::sync::Arc::clone(&client.server);
    for size in 0..1200 {
        let mut buffer = vec![0; size];
        let mut response = Encoder::fixed(&mut buffer);
        let outcome = server.handle(&mut client.connection, 1, &request, &mut response);
        assert_eq!(outcome, RequestOutcome::Complete);
        match response.written() {
            [] => assert!(size < 28, "{size} bytes are enough for a ServiceFault"),
            written => match decode::<ReadResponse>(written) {
                Ok(response) => assert!(response.results[0].value.is_some() && size > 1000),
                Err(status) => assert_eq!(status, StatusCode::BadResponseTooLarge),
            },
        }
    }
}

#[test]
fn random_bytes_do_no_harm() {
    // A linear congruential generator is random enough, and reproducible.
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    let mut client = Client::new(&server());
    let token = client.token.clone();
    let services: Vec<u32> = vec![
        ReadRequest::BINARY_ENCODING_ID,
        WriteRequest::BINARY_ENCODING_ID,
        CallRequest::BINARY_ENCODING_ID,
        BrowseRequest::BINARY_ENCODING_ID,
        BrowseNextRequest::BINARY_ENCODING_ID,
        TranslateBrowsePathsToNodeIdsRequest::BINARY_ENCODING_ID,
        CreateSessionRequest::BINARY_ENCODING_ID,
        ActivateSessionRequest::BINARY_ENCODING_ID,
        GetEndpointsRequest::BINARY_ENCODING_ID,
        AddNodesRequest::BINARY_ENCODING_ID,
        CreateSubscriptionRequest::BINARY_ENCODING_ID,
        CreateMonitoredItemsRequest::BINARY_ENCODING_ID,
        ModifyMonitoredItemsRequest::BINARY_ENCODING_ID,
        SetTriggeringRequest::BINARY_ENCODING_ID,
        RepublishRequest::BINARY_ENCODING_ID,
        TransferSubscriptionsRequest::BINARY_ENCODING_ID,
        DeleteSubscriptionsRequest::BINARY_ENCODING_ID,
    ];
    for round in 0..20_000 {
        let mut request = NodeId::from(services[round % services.len()]).encode_to_vec();
        client.token = token.clone();
        request.extend(client.header().encode_to_vec());
        request.extend((0..next() % 100).map(|_| if next() > 100 { 0 } else { next() }));
        let response = client.raw(&request);
        assert!(response.len() >= 24);
    }
}
