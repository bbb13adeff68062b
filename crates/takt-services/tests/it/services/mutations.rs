//! Valid requests of every service with a few changed bytes: each gets a valid response.

use std::sync::Arc;

use crate::common::{Client, VALUE, builder, decode, message, read_id, write_of};
use takt_services::EverybodyManages;
use takt_space::{CallError, Caller, Value};
use takt_ua::binary::{Decode, Decoder};
use takt_ua::structures::*;
use takt_ua::{
    ByteString, DataValue, ExtensionObject, NodeId, QualifiedName, StatusCode, Structure, Variant,
    ids,
};

/// Numbers that are random enough and reproducible.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

fn requests(client: &mut Client, variable: &NodeId, method: &NodeId) -> Vec<Vec<u8>> {
    let header = |client: &mut Client| client.header();
    let browse = BrowseDescription {
        node_id: ids::OBJECTS_FOLDER.into(),
        reference_type_id: ids::HIERARCHICAL_REFERENCES.into(),
        include_subtypes: true,
        result_mask: 63,
        ..BrowseDescription::default()
    };
    let element = RelativePathElement {
        include_subtypes: true,
        target_name: QualifiedName::new(0, "Server"),
        ..RelativePathElement::default()
    };
    let path = BrowsePath {
        starting_node: ids::OBJECTS_FOLDER.into(),
        relative_path: RelativePath {
            elements: vec![element],
        },
    };
    let attributes = VariableAttributes {
        specified_attributes: u32::MAX,
        value: 1.0.into(),
        data_type: ids::DOUBLE.into(),
        value_rank: -1,
        access_level: 3,
        ..VariableAttributes::default()
    };
    let node = AddNodesItem {
        parent_node_id: ids::OBJECTS_FOLDER.into(),
        reference_type_id: ids::ORGANIZES.into(),
        browse_name: QualifiedName::new(1, "New"),
        node_class: takt_ua::enumerations::NodeClass::Variable,
        node_attributes: ExtensionObject::from_structure(&attributes),
        type_definition: ids::ANALOG_ITEM_TYPE.into(),
        ..AddNodesItem::default()
    };
    let reference = AddReferencesItem {
        source_node_id: ids::OBJECTS_FOLDER.into(),
        reference_type_id: ids::ORGANIZES.into(),
        is_forward: true,
        target_node_id: variable.clone().into(),
        ..AddReferencesItem::default()
    };
    let range = ReadValueId {
        index_range: "1:2,3".into(),
        ..read_id(variable.clone(), VALUE)
    };
    let call = CallMethodRequest {
        object_id: ids::OBJECTS_FOLDER.into(),
        method_id: method.clone(),
        input_arguments: vec![1_u32.into()],
    };
    let token = UserNameIdentityToken {
        user_name: "name".into(),
        ..UserNameIdentityToken::default()
    };
    vec![
        message(&ReadRequest {
            request_header: header(client),
            nodes_to_read: vec![
                read_id(variable.clone(), VALUE),
                range,
                read_id(ids::SERVER, 3),
            ],
            ..ReadRequest::default()
        }),
        message(&WriteRequest {
            request_header: header(client),
            nodes_to_write: vec![write_of(variable.clone(), DataValue::good(vec![1_u32, 2]))],
        }),
        message(&CallRequest {
            request_header: header(client),
            methods_to_call: vec![call],
        }),
        message(&BrowseRequest {
            request_header: header(client),
            requested_max_references_per_node: 1,
            nodes_to_browse: vec![browse],
            ..BrowseRequest::default()
        }),
        message(&BrowseNextRequest {
            request_header: header(client),
            continuation_points: vec![ByteString::from(&[1, 0, 0, 0, 0, 0, 0, 0])],
            ..BrowseNextRequest::default()
        }),
        message(&TranslateBrowsePathsToNodeIdsRequest {
            request_header: header(client),
            browse_paths: vec![path],
        }),
        message(&AddNodesRequest {
            request_header: header(client),
            nodes_to_add: vec![node],
        }),
        message(&AddReferencesRequest {
            request_header: header(client),
            references_to_add: vec![reference],
        }),
        message(&DeleteNodesRequest {
            request_header: header(client),
            nodes_to_delete: vec![DeleteNodesItem {
                node_id: NodeId::numeric(1, 5),
                delete_target_references: true,
            }],
        }),
        message(&DeleteReferencesRequest {
            request_header: header(client),
            references_to_delete: vec![DeleteReferencesItem {
                source_node_id: ids::OBJECTS_FOLDER.into(),
                reference_type_id: ids::ORGANIZES.into(),
                is_forward: true,
                target_node_id: variable.clone().into(),
                delete_bidirectional: false,
            }],
        }),
        message(&CreateSessionRequest {
            request_header: header(client),
            ..CreateSessionRequest::default()
        }),
        message(&ActivateSessionRequest {
            request_header: header(client),
            user_identity_token: ExtensionObject::from_structure(&token),
            ..ActivateSessionRequest::default()
        }),
        message(&GetEndpointsRequest {
            request_header: header(client),
            ..GetEndpointsRequest::default()
        }),
    ]
}

/// Checks that a response is a whole message of a response type.
fn check(response: &[u8]) {
    macro_rules! decodes {
        ($($response:ident),*) => {{
            let type_id = NodeId::decode(&mut Decoder::new(response)).unwrap();
            $(
                if type_id == NodeId::from($response::BINARY_ENCODING_ID) {
                    decode::<$response>(response).unwrap();
                    return;
                }
            )*
            // A ServiceFault is decoded in the same way, whatever the type of the response.
            let fault: Result<ReadResponse, StatusCode> = decode(response);
            assert!(fault.is_err());
        }};
    }
    decodes!(
        ReadResponse,
        WriteResponse,
        CallResponse,
        BrowseResponse,
        BrowseNextResponse,
        TranslateBrowsePathsToNodeIdsResponse,
        AddNodesResponse,
        AddReferencesResponse,
        DeleteNodesResponse,
        DeleteReferencesResponse,
        CreateSessionResponse,
        ActivateSessionResponse,
        CloseSessionResponse,
        GetEndpointsResponse,
        FindServersResponse,
        RegisterNodesResponse,
        UnregisterNodesResponse,
        CancelResponse
    );
}

#[test]
fn changed_requests_are_answered() {
    let server = builder()
        .node_management(Arc::new(EverybodyManages))
        .build()
        .unwrap();
    let mut client = Client::new(&server);
    let space = server.address_space();
    let variable = space
        .add_variable((1, "V"))
        .value(Value::stored(vec![1_u32, 2, 3]))
        .writable()
        .add()
        .unwrap();
    let echo = |_: &Caller, _: &NodeId, inputs: &[Variant]| Ok::<_, CallError>(inputs.to_vec());
    let method = space
        .add_method((1, "M"))
        .input("i", ids::UINT32, -1)
        .handler(echo)
        .add()
        .unwrap();
    let requests = requests(&mut client, &variable, &method);
    for request in &requests {
        check(&client.raw(request));
    }
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for round in 0..20_000 {
        let mut request = requests[round % requests.len()].clone();
        // Most changes are behind the header: an unknown Session is tested often enough.
        let start = if numbers.below(10) == 0 { 0 } else { 42 };
        for _ in 0..=numbers.below(4) {
            let at = start + numbers.below(request.len() - start);
            request[at] = match numbers.below(4) {
                0 => 0xFF,
                1 => 0,
                2 => request[at] ^ (1 << numbers.below(8)),
                _ => numbers.next() as u8,
            };
        }
        if numbers.below(8) == 0 {
            request.truncate(numbers.below(request.len()));
        }
        check(&client.raw(&request));
    }
}
